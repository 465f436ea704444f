import { describe, expect, test } from "bun:test";
import { alwaysDeny } from "./always-deny.ts";
import { alwaysPullImages } from "./always-pull-images.ts";
import { clusterTrustBundleAttest } from "./cluster-trust-bundle-attest.ts";
import { denyServiceExternalIps } from "./deny-service-external-ips.ts";
import { extendedResourceToleration } from "./extended-resource-toleration.ts";
import { limitPodHardAntiAffinityTopology } from "./limit-pod-hard-anti-affinity-topology.ts";
import { namespaceExists } from "./namespace-exists.ts";
import { podTopologyLabels } from "./pod-topology-labels.ts";
import { attributes, objects, pod, verdict } from "./testing.ts";

const refused = (problem: string) => `pods "p" is forbidden: ${problem}`;

test("AlwaysDeny rejects everything", async () => {
  expect(await verdict(alwaysDeny(), attributes("/pods", { object: pod() }))).toBe(
    refused("admission control is denying all modifications"),
  );
});

test.each(["CREATE", "UPDATE", "DELETE"] as const)("NamespaceExists requires a namespace for %s", async (operation) => {
  const plugin = namespaceExists({ lookup: objects({ "/namespaces": [{ metadata: { name: "ns" } }] }) });
  expect(await verdict(plugin, attributes("/pods", { operation, object: pod() }))).toBeUndefined();
  const elsewhere = attributes("/pods", { operation, object: pod(), namespace: "none" });
  expect(await verdict(plugin, elsewhere)).toBe('namespaces "none" not found');
});

test("AlwaysPullImages makes every container pull its image", async () => {
  const object = pod({ initContainers: [{ name: "i", imagePullPolicy: "Never" }] });
  expect(await verdict(alwaysPullImages(), attributes("/pods", { object }))).toBeUndefined();
  expect(JSON.stringify(object)).not.toContain("Never");
  const later = pod({ containers: [{ name: "c", imagePullPolicy: "Never" }] });
  expect(await verdict({ ...alwaysPullImages(), admit() {} }, attributes("/pods", { object: later }))).toBe(
    refused('spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"'),
  );
});

test.each([
  ["kubernetes.io/hostname", undefined],
  [
    "zone",
    refused(
      "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed",
    ),
  ],
])("a pod that excludes others from its %s: %p", async (topologyKey, problem) => {
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] };
  const object = pod({ affinity: { podAntiAffinity } });
  const message = await verdict(limitPodHardAntiAffinityTopology(), attributes("/pods", { object }));
  expect(message).toBe(problem as never);
});

test("ExtendedResourceToleration tolerates the requested devices once", async () => {
  const resources = { requests: { cpu: "1", "example.com/gpu": "1", "kubernetes.io/x": "1" } };
  const object = pod({ containers: [{ name: "c", resources }] });
  for (let times = 0; times < 2; times++) {
    await verdict(extendedResourceToleration(), attributes("/pods", { object }));
  }
  expect((object["spec"] as any).tolerations).toEqual([{ key: "example.com/gpu", operator: "Exists" }]);
});

test.each([
  [undefined, ["192.0.2.1"], true],
  [["192.0.2.1"], ["192.0.2.1"], false],
  [["192.0.2.1"], ["192.0.2.2"], true],
  [["192.0.2.1"], [], false],
])("external IPs from %j to %j are rejected: %p", async (before, after, isRefused) => {
  const service = (externalIPs: string[] | undefined) => ({ metadata: { name: "s" }, spec: { externalIPs } });
  const request = attributes("/services", {
    operation: before === undefined ? "CREATE" : "UPDATE",
    object: service(after),
    ...(before === undefined ? {} : { oldObject: service(before) }),
  });
  const message = await verdict(denyServiceExternalIps(), request);
  const expected = 'services "s" is forbidden: Use of external IPs is denied by admission control.';
  expect(message).toBe(isRefused ? expected : (undefined as never));
});

describe("PodTopologyLabels", () => {
  const labels = { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", other: "x" };
  const plugin = podTopologyLabels({ lookup: objects({ "/nodes": [{ metadata: { name: "n", labels } }] }) });
  const topology = { "topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z" };
  const binding = (kind: string) => ({ metadata: { name: "p" }, target: { kind, name: "n" } });
  test.each([
    ["/pods", "", pod({ nodeName: "n" }), topology],
    ["/pods", "", pod(), undefined],
    ["/pods", "", pod({ nodeName: "unknown" }), undefined],
    ["/pods", "binding", binding("Node"), topology],
    ["/bindings", "", binding("Node"), topology],
    ["/pods", "binding", binding("Other"), undefined],
  ] as const)("%s %s of %j labels %j", async (resource, subresource, object, expected) => {
    await verdict(plugin, attributes(resource, { subresource, object }));
    expect((object as any).metadata.labels).toEqual(expected as never);
  });
});

test.each([
  ["", true],
  ["example.com/s", true],
  ["example.com/other", false],
])("ClusterTrustBundleAttest accepts a bundle of the signer %j: %p", async (signerName, passes) => {
  const authorize = async (_user: unknown, { verb, name }: { verb: string; name: string }) => ({
    allowed: verb === "attest" && name === "example.com/s",
    reason: "",
  });
  const object = { metadata: { name: "b" }, spec: { signerName } };
  const request = attributes("certificates.k8s.io/clustertrustbundles", { object, namespace: "" });
  expect((await verdict(clusterTrustBundleAttest({ authorize }), request)) === undefined).toBe(passes);
});
