import { nodeDescriptions } from "./node-descriptions.ts";
import type { Node } from "../../api/types/core-v1.ts";
import { warnAboutCidr } from "../../api/validation/strict-ip.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateNode, validateNodeUpdate } from "./validation/node.ts";
import { builtInKind, connection, stored, subresource } from "../../registry/kind.ts";
import { nodeCells } from "./node-cells.ts";
import { flagReaderOf } from "../../api/scheme/selectable-fields.ts";
import { alignPodCidrs, defaultNode, roundNodeStatus } from "./defaults/node.ts";

const nodeStrategy: Strategy<Node> = {
  ...defaultStrategy,
  coversSchema: true,
  // A node registers itself with its status, so create keeps it; later writes of the node leave it alone.
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
  validate: validateNode,
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
