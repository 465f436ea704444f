import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePriorityLevel } from "./validation/priority-level-configuration.ts";
import { validateTypedConditions } from "../../api/validation/typed-conditions.ts";
import type { PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { objectOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";

const priorityLevelStrategy: Strategy<PriorityLevelConfiguration> = {
  ...defaultStrategy,
  metaRules: "whole",
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validatePriorityLevel,
};

const priorityLevelStatusStrategy: Strategy<PriorityLevelConfiguration> = {
  ...statusStrategy(priorityLevelStrategy, { keepsMetadata: true }),
  validate: validateTypedConditions,
};

export const priorityLevelConfiguration = builtInKind("prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", {
  endpoint: stored(priorityLevelStrategy),
  table: { cells: priorityLevelConfigurationCells },
  subresources: {
    status: subresource(priorityLevelStatusStrategy),
  },
  descriptions: {
    "flowcontrol/v1.PriorityLevelConfiguration": { "": "A share of the server's capacity." },
    "flowcontrol/v1.PriorityLevelConfigurationSpec": {
      "": "The share.",
      type: "Limited, or Exempt: never made to wait.",
      limited: "Settings of a limited level.",
      exempt: "Settings of an exempt level.",
    },
    "flowcontrol/v1.PriorityLevelConfigurationStatus": { "": "Findings about the level." },
  },
});

function priorityLevelConfigurationCells(level: JsonObject): Cells {
  const spec = objectOf(level["spec"]);
  const limited = objectOf(spec["limited"]);
  const queuing = objectOf(objectOf(limited["limitResponse"])["queuing"]);
  return {
    Type: textOf(spec["type"]),
    NominalConcurrencyShares: orNone(limited["nominalConcurrencyShares"]),
    Queues: orNone(queuing["queues"]),
    HandSize: orNone(queuing["handSize"]),
    QueueLengthLimit: orNone(queuing["queueLengthLimit"]),
  };
}

function orNone(value: JsonValue | undefined): JsonValue {
  return value ?? "<none>";
}
