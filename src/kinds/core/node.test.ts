import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "v1/nodes";
const node: JsonObject = {
  spec: {
    podCIDRs: ["10.244.1.0/24", "fd00:1::/64"],
    providerID: "example://node-1",
    taints: [
      { key: "dedicated", value: "db", effect: "NoSchedule" },
      { key: "dedicated", value: "db", effect: "NoExecute" },
    ],
  },
  status: {
    capacity: { cpu: "8", memory: "32Gi", pods: "110", "example.com/gpu": "2" },
    addresses: [
      { type: "InternalIP", address: "192.0.2.10" },
      { type: "Hostname", address: "node-1" },
    ],
  },
};

test("a node registers itself with its status", async () => {
  const { spec, status } = await created(path, node);
  expect(spec).toMatchObject({ podCIDR: "10.244.1.0/24", podCIDRs: ["10.244.1.0/24", "fd00:1::/64"] });
  expect(status).toMatchObject({ allocatable: { cpu: "8", memory: "32Gi" } });
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.taints[0].key",
    "",
    [
      'metadata.taints[0].key: Invalid value: "": name part must be non-empty',
      "metadata.taints[0].key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  ["spec.taints[0].effect", "", ["metadata.taints[0].effect: Required value"]],
  [
    "spec.taints[0].effect",
    "Shun",
    [
      'metadata.taints[0].effect: Unsupported value: "Shun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    "spec.taints[1].effect",
    "NoSchedule",
    [
      'metadata.taints[1]: Duplicate value: {"Key":"dedicated","Value":"db","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    ],
  ],
  [
    "spec.podCIDRs",
    ["10.244.1.0"],
    ['spec.podCIDRs[0]: Invalid value: "10.244.1.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  ],
  [
    "spec.podCIDRs",
    ["10.244.1.0/24", "10.244.2.0/24"],
    [
      'spec.podCIDRs: Invalid value: ["10.244.1.0/24","10.244.2.0/24"]: may specify no more than one CIDR for each IP family',
    ],
  ],
  [
    "spec.podCIDRs",
    ["10.244.1.0/24", "x"],
    [
      'spec.podCIDRs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: x)",
      'spec.podCIDRs: Invalid value: ["10.244.1.0/24","x"]: may specify no more than one CIDR for each IP family',
    ],
  ],
  ["status.capacity.cpu", "-1", ['status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0']],
  [
    "status.capacity",
    { "example.com/gpu": "1500m" },
    ['status.capacity.example.com/gpu: Invalid value: "1500m": must be an integer'],
  ],
])("a Node with %s = %j is refused", async (field, value, causes) => {
  const withAllocatable = changed(node, "status.allocatable", { cpu: "8" });
  expect(await refusal(path, changed(withAllocatable, field, value))).toEqual(causes);
});

test("the ranges and the provider of a node are set once", async () => {
  const moved = changed(changed(node, "spec.podCIDRs", ["10.244.9.0/24"]), "spec.providerID", "example://other");
  expect(await updateRefusal(path, node, moved)).toEqual([
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
  ]);
  expect(await updateRefusal(path, { spec: {} }, node)).toEqual([]);
});

test("spec and status are written apart", async () => {
  const other = { spec: { ...(node["spec"] as JsonObject), unschedulable: true }, status: { phase: "Running" } };
  const bySpec = await updated(path, node, other);
  expect(bySpec).toMatchObject({ spec: { unschedulable: true }, status: { capacity: { cpu: "8" } } });
  expect(bySpec["status"]).not.toHaveProperty("phase");
  const byStatus = await updated(path, node, other, "status");
  expect(byStatus["spec"]).not.toHaveProperty("unschedulable");
  expect(byStatus["status"]).toMatchObject({ phase: "Running" });
});

test("the addresses of a status are different", async () => {
  const twice = changed(node, "status.addresses", [
    { type: "InternalIP", address: "192.0.2.10" },
    { type: "InternalIP", address: "192.0.2.10" },
  ]);
  expect(await updateRefusal(path, node, twice, "status")).toEqual([
    'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"192.0.2.10"}',
  ]);
});

test("settings from a ConfigMap are a thing of the past", async () => {
  const withSource = changed(node, "spec.configSource", {
    configMap: { name: "x", namespace: "n", kubeletConfigKey: "k" },
  });
  expect((await created(path, withSource))["spec"]).not.toHaveProperty("configSource");
  expect((await updated(path, node, withSource))["spec"]).not.toHaveProperty("configSource");
});
