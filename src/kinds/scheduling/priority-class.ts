import type { Strategy } from "../../registry/strategy.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { validatePriorityClass, validatePriorityClassUpdate } from "./validation/priority-class.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { numberIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const priorityClassStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  prepareForCreate(object) {
    object.metadata.generation = 1;
  },
  validate: validatePriorityClass,
  validateUpdate: validatePriorityClassUpdate,
};

export const priorityClass = builtInKind("priorityclasses.scheduling.k8s.io", {
  endpoint: stored(priorityClassStrategy),
  table: { cells: priorityClassCells },
});

function priorityClassCells(priorityClass: JsonObject): Cells {
  return {
    Value: numberIn(priorityClass, "value"),
    "Global-Default": priorityClass["globalDefault"] === true,
    PreemptionPolicy: textIn(priorityClass, "preemptionPolicy"),
  };
}
