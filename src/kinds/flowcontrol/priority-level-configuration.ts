import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import { validateTypedConditions } from "../../api/validation/typed-conditions.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePriorityLevel } from "./validation/priority-level-configuration.ts";

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

function priorityLevelConfigurationCells({ spec }: PriorityLevelConfiguration): Cells {
  const queuing = spec?.limited?.limitResponse?.queuing;
  return {
    Type: spec?.type ?? "",
    NominalConcurrencyShares: spec?.limited?.nominalConcurrencyShares ?? "<none>",
    Queues: queuing?.queues ?? "<none>",
    HandSize: queuing?.handSize ?? "<none>",
    QueueLengthLimit: queuing?.queueLengthLimit ?? "<none>",
  };
}
