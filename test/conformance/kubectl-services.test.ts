import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;
beforeAll(async () => {
  server = await startServer();
  kubectl = await Kubectl.open(server.kubeconfig);
  await kubectl.ok(["create", "deployment", "web", "--image=registry.example/web:1", "--port=8080"]);
});
afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

const field = (resource: string, path: string) => kubectl.ok(["get", resource, "-o", `jsonpath={${path}}`]);

describe("services", () => {
  test("expose gives a deployment an address", async () => {
    expect(await kubectl.ok(["expose", "deployment", "web", "--port=80", "--target-port=8080"])).toBe(
      "service/web exposed\n",
    );
    expect(await field("service/web", ".spec.clusterIP")).toMatch(/^10\./);
    expect(await field("service/web", ".spec.ports[0].targetPort")).toBe("8080");
    expect(await field("service/web", ".spec.selector.app")).toBe("web");
  });

  test("create service assigns node ports, none, or the requested ones", async () => {
    await kubectl.ok(["create", "service", "nodeport", "np", "--tcp=80:8080", "--node-port=30123"]);
    expect(await field("service/np", ".spec.ports[0].nodePort")).toBe("30123");
    await kubectl.ok(["create", "service", "loadbalancer", "lb", "--tcp=80:8080"]);
    expect(Number(await field("service/lb", ".spec.ports[0].nodePort"))).toBeGreaterThan(30_000);
    await kubectl.ok(["create", "service", "clusterip", "headless", "--clusterip=None"]);
    expect(await field("service/headless", ".spec.clusterIP")).toBe("None");
    await kubectl.ok(["create", "service", "externalname", "ext", "--external-name=example.com"]);
    expect(await field("service/ext", ".spec.clusterIP")).toBe("");
    const second = await kubectl.run(["create", "service", "nodeport", "np2", "--tcp=80", "--node-port=30123"]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("spec.ports[0].nodePort: Invalid value: 30123: provided port is already allocated");
  });

  test("apply twice changes nothing, and a dry run by the server allocates nothing", async () => {
    const manifest = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "applied" },
      spec: { type: "NodePort", selector: { app: "web" }, ports: [{ port: 80 }] },
    };
    await kubectl.apply(manifest);
    const before = await field("service/applied", ".metadata.resourceVersion");
    await kubectl.apply(manifest);
    expect(await field("service/applied", ".metadata.resourceVersion")).toBe(before);
    const addresses = await kubectl.ok(["get", "ipaddresses", "-o", "name"]);
    await kubectl.ok(["create", "service", "clusterip", "dry", "--tcp=80", "--dry-run=server"]);
    expect(await kubectl.ok(["get", "ipaddresses", "-o", "name"])).toBe(addresses);
  });

  test("describe and get print them", async () => {
    expect(await kubectl.ok(["describe", "service", "web"])).toMatch(/^IP Families: +IPv4$/m);
    expect(await kubectl.ok(["get", "services"])).toMatch(/^kubernetes +ClusterIP +10\.96\.0\.1 /m);
    expect(await kubectl.ok(["get", "servicecidrs"])).toMatch(/^kubernetes +10\.96\.0\.0\/12 /m);
  });
});

describe("admission", () => {
  test("create quota is counted, and describe shows it", async () => {
    await kubectl.ok(["create", "namespace", "team"]);
    await kubectl.ok(["create", "quota", "q", "--hard=configmaps=2,count/deployments.apps=1", "-n", "team"]);
    await kubectl.ok(["create", "deployment", "a", "--image=registry.example/a", "-n", "team"]);
    const second = await kubectl.run(["create", "deployment", "b", "--image=registry.example/b", "-n", "team"]);
    expect(second.stderr).toBe(
      'error: failed to create deployment: deployments.apps "b" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1\n',
    );
    expect(await kubectl.ok(["describe", "quota", "q", "-n", "team"])).toMatch(/^count\/deployments\.apps +1 +1$/m);
  });

  test("warnings of PodSecurity are printed", async () => {
    await kubectl.ok(["label", "namespace", "team", "pod-security.kubernetes.io/warn=restricted"]);
    const run = ["run", "p", "--image=registry.example/p", "-n", "team"];
    const { code, stdout, stderr } = await kubectl.run(run);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "pod/p created\n" });
    expect(stderr).toStartWith(
      'Warning: would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "p" must set',
    );
  });

  test("create priorityclass is used by pods", async () => {
    await kubectl.ok(["create", "priorityclass", "high", "--value=1000", "--description=x"]);
    const overrides = JSON.stringify({ apiVersion: "v1", spec: { priorityClassName: "high" } });
    await kubectl.ok(["run", "important", "--image=registry.example/p", `--overrides=${overrides}`]);
    expect(await field("pod/important", ".spec.priority")).toBe("1000");
  });
});
