import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { validateNode, validateNodeUpdate } from "./validation/node.ts";
import { builtInKind, connection, stored, subresource } from "../../registry/kind.ts";
import { nodeCells } from "./node-cells.ts";
import { flagReaderOf } from "../../api/scheme/selectable-fields.ts";
import { alignPodCidrs, defaultNode, roundNodeStatus } from "./defaults/node.ts";

const nodeStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  // A node registers itself with its status, so create keeps it; later writes of the node leave it alone.
  prepareForCreate: dropRemoteConfig,
  prepareForUpdate(node, old) {
    if (old["status"] === undefined) delete node["status"];
    else node["status"] = old["status"];
    dropRemoteConfig(node);
  },
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
};

const plainStatusStrategy = statusStrategy(nodeStrategy);

const nodeStatusStrategy: Strategy = {
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
});

/** Nodes once fetched their settings from a ConfigMap. None does so any more, but the fields are still in the API. */
function dropRemoteConfig(node: KubeObject): void {
  const [{ configSource, ...spec }, { config, ...status }] = [fieldsOf(node["spec"]), fieldsOf(node["status"])];
  if (configSource !== undefined) node["spec"] = spec;
  if (config !== undefined) node["status"] = status;
}
