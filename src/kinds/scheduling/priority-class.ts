import type { Cells } from "../../api/codec/table/table-rules.ts";
import type * as schedulingV1 from "../../api/types/scheduling-v1.ts";
import { defaultStrategy, forNewObjects } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePriorityClass, validatePriorityClassUpdate } from "./validation/priority-class.ts";

const priorityClassStrategy: Strategy<schedulingV1.PriorityClass> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  prepareForCreate(object) {
    object.metadata.generation = 1;
  },
  validate: forNewObjects(validatePriorityClass),
  validateUpdate: validatePriorityClassUpdate,
};

export const priorityClass = builtInKind("priorityclasses.scheduling.k8s.io", {
  endpoint: stored(priorityClassStrategy),
  table: { cells: priorityClassCells },
  descriptions: {
    "scheduling/v1.PriorityClass": {
      "": "A name for the priority of pods.",
      value: "The priority; the higher, the more important.",
      globalDefault: "Whether pods without a class get this one.",
      description: "When to use it, for people.",
      preemptionPolicy: "PreemptLowerPriority or Never: whether pods make room for themselves.",
    },
  },
});

function priorityClassCells({
  value,
  globalDefault = false,
  preemptionPolicy = "",
}: schedulingV1.PriorityClass): Cells {
  return { Value: value, "Global-Default": globalDefault, PreemptionPolicy: preemptionPolicy };
}
