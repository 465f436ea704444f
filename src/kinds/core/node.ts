import type { Cells } from "../../api/codec/table/table-rules.ts";
import { cloneJson } from "../../api/json.ts";
import { flagReaderOf } from "../../api/scheme/selectable-fields.ts";
import type { Node, NodeSpec, NodeStatus } from "../../api/types/core-v1.ts";
import { warnAboutCidr } from "../../api/validation/strict-ip.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, connection, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { nodeDescriptions } from "./node-descriptions.ts";
import { roundResourceList } from "./resource-list.ts";
import { validateNode, validateNodeUpdate } from "./validation/node.ts";

const nodeStrategy: Strategy<Node> = {
  ...defaultStrategy,
  coversSchema: true,
  // A node registers itself with its status, so create keeps the status. Updates of the node leave it unchanged.
  prepareForCreate: dropRemoteConfig,
  prepareForUpdate(node, old) {
    if (old.status === undefined) delete node.status;
    else node.status = old.status;
    dropRemoteConfig(node);
  },
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  warnings: nodeWarnings,
};

const plainStatusStrategy = statusStrategy(nodeStrategy);

const nodeStatusStrategy: Strategy<Node> = {
  ...plainStatusStrategy,
  prepareForUpdate(node, old, nowMs) {
    plainStatusStrategy.prepareForUpdate(node, old, nowMs);
    dropRemoteConfig(node);
  },
  validate: () => [],
  validateUpdate: validateNodeUpdate,
};

export const node = builtInKind("nodes", {
  endpoint: stored(nodeStrategy),
  table: { cells: nodeCells },
  labels: { readers: { "spec.unschedulable": flagReaderOf("spec.unschedulable") } },
  defaults: {
    "core/v1.Node": defaultNode,
    "core/v1.NodeSpec": alignPodCidrs,
    "core/v1.NodeStatus": roundNodeStatus,
  },
  subresources: {
    proxy: connection("nodeProxy"),
    status: subresource(nodeStatusStrategy),
  },
  descriptions: nodeDescriptions,
});

/** Drops the settings that nodes once fetched from a ConfigMap. The fields are still in the API. */
function dropRemoteConfig(node: Node): void {
  const [{ configSource, ...spec }, { config, ...status }] = [node.spec ?? {}, node.status ?? {}];
  if (configSource !== undefined) node.spec = spec;
  if (config !== undefined) node.status = status;
}

function nodeWarnings({ spec = {} }: Node): string[] {
  const { externalID = "", podCIDRs = [] } = spec;
  const text = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
  return [
    ...(externalID === "" ? [] : [text]),
    ...podCIDRs.flatMap((cidr, at) => warnAboutCidr(cidr, `spec.podCIDRs[${at}]`)),
  ];
}

const roleLabelPrefix = "node-role.kubernetes.io/";
const roleLabel = "kubernetes.io/role";

function nodeCells(node: Node): Cells {
  const { nodeInfo } = node.status ?? {};
  return {
    Status: nodeStatusText(node),
    Roles: rolesText(node.metadata.labels ?? {}),
    Version: nodeInfo?.kubeletVersion ?? "",
    "Internal-IP": addressOf(node, "InternalIP"),
    "External-IP": addressOf(node, "ExternalIP"),
    "OS-Image": nodeInfo?.osImage || "<unknown>",
    "Kernel-Version": nodeInfo?.kernelVersion || "<unknown>",
    "Container-Runtime": nodeInfo?.containerRuntimeVersion || "<unknown>",
  };
}

function nodeStatusText({ spec = {}, status = {} }: Node): string {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  const text = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec.unschedulable === true ? `${text},SchedulingDisabled` : text;
}

function rolesText(labels: Readonly<Record<string, string>>): string {
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(labels)) {
    if (label.startsWith(roleLabelPrefix) && label !== roleLabelPrefix) roles.add(label.slice(roleLabelPrefix.length));
    else if (label === roleLabel && value !== "") roles.add(value);
  }
  return roles.size === 0 ? "<none>" : [...roles].sort().join(",");
}

function addressOf({ status = {} }: Node, type: string): string {
  return status.addresses?.find((address) => address.type === type)?.address || "<none>";
}

/** Everything on a node can be given to pods until the node reports otherwise. */
function defaultNode({ status }: Node): void {
  if (status?.capacity !== undefined) status.allocatable ??= cloneJson(status.capacity);
}

function roundNodeStatus({ capacity, allocatable }: NodeStatus): void {
  roundResourceList(capacity);
  roundResourceList(allocatable);
}

/** Makes `podCIDR` the first of `podCIDRs`. If both are given and differ, `podCIDR` counts: old clients know only that. */
function alignPodCidrs(spec: NodeSpec): void {
  const { podCIDR = "", podCIDRs: [first] = [] } = spec;
  if (podCIDR !== "") {
    if (podCIDR !== first) spec.podCIDRs = [podCIDR];
  } else if (first !== undefined) spec.podCIDR = first;
}
