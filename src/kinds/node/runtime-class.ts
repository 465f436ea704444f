import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { RuntimeClass } from "../../api/types/node-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { roundResourceList } from "../core/resource-list.ts";
import { validateRuntimeClass, validateRuntimeClassUpdate } from "./validation/runtime-class.ts";

export const runtimeClass = builtInKind("runtimeclasses.node.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    allowsBareFinalizers: true,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateRuntimeClass,
    validateUpdate: validateRuntimeClassUpdate,
  }),
  table: { cells: runtimeClassCells },
  defaults: {
    "node/v1.Overhead": ({ podFixed }) => roundResourceList(podFixed),
  },
  descriptions: {
    "node/v1.RuntimeClass": {
      "": "A way to run containers.",
      handler: "Name of the configuration in the container runtime.",
      overhead: "Resources that a pod needs besides those of its containers.",
      scheduling: "Nodes that have it.",
    },
    "node/v1.Overhead": { "": "Resources that a pod needs besides those of its containers.", podFixed: "Per pod." },
    "node/v1.Scheduling": {
      "": "Nodes that have the runtime.",
      nodeSelector: "Labels of the nodes.",
      tolerations: "Taints of the nodes that pods tolerate.",
    },
  },
});

function runtimeClassCells({ handler }: RuntimeClass): Cells {
  return { Handler: handler };
}
