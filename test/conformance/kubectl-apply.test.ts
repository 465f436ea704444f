import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer();
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function configMap(name: string, data: Record<string, string>): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
}

function deployment(name: string, image: string, more: object = {}): string {
  const labels = { app: name };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: "web", image, ports: [{ containerPort: 80 }] }] },
  };
  const spec = { selector: { matchLabels: labels }, template, ...more };
  return JSON.stringify({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec });
}

function apply(input: string, ...flags: string[]) {
  return kubectl.run(["apply", "--server-side", ...flags, "-f", "-"], { input });
}

async function managers(kind: string, name: string): Promise<string[]> {
  const { metadata } = await kubectl.get([kind, name, "--show-managed-fields"]);
  return metadata.managedFields.map(
    ({ manager, operation }: { manager: string; operation: string }) => `${manager} ${operation}`,
  );
}

describe("apply --server-side", () => {
  test("creates, leaves alone what is the same, and changes the rest", async () => {
    const applied = "configmap/applied serverside-applied\n";
    expect((await apply(configMap("applied", { a: "1", b: "2" }))).stdout).toBe(applied);
    const created = await kubectl.get(["configmap", "applied"]);
    expect((await apply(configMap("applied", { a: "1", b: "2" }))).stdout).toBe(applied);
    expect(await kubectl.get(["configmap", "applied"])).toEqual(created);
    await apply(configMap("applied", { a: "3" }));
    expect((await kubectl.get(["configmap", "applied"])).data).toEqual({ a: "3" });
    expect(await managers("configmap", "applied")).toEqual(["kubectl Apply"]);
  });

  test("tells conflicts, and takes the fields when it is told to", async () => {
    await apply(configMap("contested", { a: "1" }), "--field-manager=first");
    const refused = await apply(configMap("contested", { a: "2" }), "--field-manager=second");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Apply failed with 1 conflict: conflict with "first": .data.a');
    expect((await apply(configMap("contested", { a: "2" }), "--field-manager=second", "--force-conflicts")).code).toBe(
      0,
    );
    expect((await kubectl.get(["configmap", "contested"])).data).toEqual({ a: "2" });
    expect(await managers("configmap", "contested")).toEqual(["second Apply"]);
  });

  test("leaves the replicas to their other manager", async () => {
    await apply(deployment("scaled", "registry.example/web:1", { replicas: 1 }));
    await kubectl.ok(["scale", "deployment", "scaled", "--replicas=3"]);
    await apply(deployment("scaled", "registry.example/web:2"));
    const { spec } = await kubectl.get(["deployment", "scaled"]);
    expect(spec.replicas).toBe(3);
    expect(spec.template.spec.containers[0].image).toBe("registry.example/web:2");
  });

  test("writes nothing on a dry run", async () => {
    await apply(configMap("dry", { a: "1" }), "--dry-run=server");
    expect((await kubectl.run(["get", "configmap", "dry"])).stderr).toContain("not found");
  });
});

test("diff --server-side shows what an apply would change", async () => {
  await apply(configMap("differing", { a: "1" }));
  const input = configMap("differing", { a: "2" });
  const { code, stdout } = await kubectl.run(["diff", "--server-side", "-f", "-"], { input });
  expect(code).toBe(1);
  expect(stdout).toContain('-  a: "1"');
  expect(stdout).toContain('+  a: "2"');
  expect((await kubectl.get(["configmap", "differing"])).data).toEqual({ a: "1" });
});

describe("between client-side and server-side apply", () => {
  test("an object moves to the server without conflicts", async () => {
    await kubectl.ok(["apply", "-f", "-"], { input: configMap("moved", { a: "1", b: "2" }) });
    const { code, stderr } = await apply(configMap("moved", { a: "2" }));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { data, metadata } = await kubectl.get(["configmap", "moved"]);
    expect(data).toEqual({ a: "2" });
    expect(JSON.parse(metadata.annotations[lastApplied]).data).toEqual({ a: "2" });
  });

  test("and converts back", async () => {
    await kubectl.ok(["apply", "-f", "-"], { input: configMap("back", { a: "1" }) });
    await apply(configMap("back", { a: "2", b: "2" }));
    await kubectl.ok(["apply", "-f", "-"], { input: configMap("back", { a: "3" }) });
    expect((await kubectl.get(["configmap", "back"])).data).toEqual({ a: "3" });
  });
});
