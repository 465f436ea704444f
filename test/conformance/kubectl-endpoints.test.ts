import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer({});
  kubectl = await Kubectl.open(server.kubeconfig);
  await kubectl.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } });
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

/** Creates a running pod, with the status that a node agent would report. */
async function runPod(name: string, ip: string): Promise<void> {
  const container = { name: "c", image: "example.com/web:1", ports: [{ name: "web", containerPort: 8080 }] };
  const metadata = { name, labels: { app: "web" } };
  await kubectl.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata,
    spec: { nodeName: "node-1", containers: [container] },
  });
  await report(name, ip, "True");
}

function report(name: string, ip: string, ready: "True" | "False"): Promise<string> {
  const lastTransitionTime = new Date().toISOString();
  const conditions = [{ type: "Ready", status: ready, lastTransitionTime }];
  const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions };
  return kubectl.ok(["patch", "pod", name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
}

const until = (resource: string, condition: string, ...more: readonly string[]) =>
  kubectl.ok(["wait", resource, `--for=${condition}`, "--timeout=10s", ...more]);
const ofService = (name: string) => ["-l", `kubernetes.io/service-name=${name}`];

test("a service's endpoints follow its pods", async () => {
  await kubectl.ok(["create", "service", "clusterip", "web", "--tcp=80:web"]);
  await until("endpoints/web", "create");
  expect(await kubectl.ok(["get", "endpoints", "web"])).toMatch(/^web +<none> /m);
  await runPod("web-1", "10.1.0.1");
  await runPod("web-2", "10.1.0.2");
  await until("endpoints/web", "jsonpath={.subsets[0].addresses[1].ip}=10.1.0.2");
  expect(await kubectl.ok(["get", "endpoints", "web"])).toMatch(/^web +10.1.0.1:8080,10.1.0.2:8080 /m);
  await until("endpointslice", "jsonpath={.endpoints[1].conditions.ready}=true", ...ofService("web"));
  expect(await kubectl.ok(["get", "endpointslices", ...ofService("web")])).toMatch(
    /^web-[a-z0-9]{5} +IPv4 +8080 +10.1.0.1,10.1.0.2 /m,
  );
  expect(await kubectl.ok(["describe", "service", "web"])).toMatch(/^Endpoints: +10.1.0.1:8080,10.1.0.2:8080$/m);

  await report("web-1", "10.1.0.1", "False");
  await until("endpoints/web", "jsonpath={.subsets[0].notReadyAddresses[0].ip}=10.1.0.1");
  await kubectl.ok(["delete", "pod", "web-1", "--grace-period=0", "--force"]);
  await until("endpoints/web", "jsonpath={.subsets[0].addresses[0].ip}=10.1.0.2");
  await kubectl.ok(["delete", "service", "web"]);
  await until("endpoints/web", "delete");
  await until("endpointslice", "delete", ...ofService("web"));
});

test("Endpoints of a service without a selector are mirrored", async () => {
  const metadata = { name: "database" };
  await kubectl.apply({ apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 5432 }] } });
  const subsets = [{ addresses: [{ ip: "192.0.2.7" }], ports: [{ port: 5432 }] }];
  await kubectl.apply({ apiVersion: "v1", kind: "Endpoints", metadata, subsets });
  await until("endpointslice", "create", ...ofService("database"));
  const { items } = await kubectl.get(["endpointslices", ...ofService("database")]);
  expect(items).toMatchObject([
    {
      metadata: {
        generateName: "database-",
        labels: { "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io" },
        ownerReferences: [{ kind: "Endpoints", name: "database" }],
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["192.0.2.7"], conditions: { ready: true } }],
      ports: [{ name: "", port: 5432, protocol: "TCP" }],
    },
  ]);
  await kubectl.ok(["delete", "endpoints", "database"]);
  await until("endpointslice", "delete", ...ofService("database"));
});

test("a pod on a missing node is reported at its service", async () => {
  await kubectl.ok(["create", "service", "clusterip", "lost", "--tcp=80:8080"]);
  const pod = { metadata: { name: "lost", labels: { app: "lost" } }, spec: { nodeName: "node-9" } };
  const containers = [{ name: "c", image: "example.com/web:1" }];
  await kubectl.apply({ apiVersion: "v1", kind: "Pod", ...pod, spec: { ...pod.spec, containers } });
  await report("lost", "10.1.0.9", "True");
  const about = "--field-selector=involvedObject.name=lost,reason=FailedToUpdateEndpointSlices";
  await until("events", "create", about);
  const { items } = await kubectl.get(["events", about]);
  expect(items[0]).toMatchObject({
    type: "Warning",
    message:
      "Error updating Endpoint Slices for Service default/lost: skipping Pod lost for Service default/lost: Node node-9 Not Found",
    source: { component: "endpoint-slice-controller" },
    involvedObject: { kind: "Service" },
  });
});

test("the EndpointSlices are counted", async () => {
  const metrics = await kubectl.ok(["get", "--raw", "/metrics"]);
  expect(metrics).toMatch(/^endpoint_slice_controller_changes\{operation="create"\} [1-9]/m);
  expect(metrics).toMatch(/^endpoint_slice_controller_num_endpoint_slices [1-9]/m);
  expect(metrics).toMatch(/^endpoint_slice_mirroring_controller_changes\{operation="delete"\} 1$/m);
});
