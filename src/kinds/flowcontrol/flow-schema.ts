import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { FlowSchema } from "../../api/types/flowcontrol-v1.ts";
import { validateTypedConditions } from "../../api/validation/typed-conditions.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateFlowSchema } from "./validation/flow-schema.ts";

const flowSchemaStrategy: Strategy<FlowSchema> = {
  ...defaultStrategy,
  metaRules: "whole",
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validateFlowSchema,
};

const flowSchemaStatusStrategy: Strategy<FlowSchema> = {
  ...statusStrategy(flowSchemaStrategy, { keepsMetadata: true }),
  validate: validateTypedConditions,
};

export const flowSchema = builtInKind("flowschemas.flowcontrol.apiserver.k8s.io", {
  endpoint: stored(flowSchemaStrategy),
  table: { cells: flowSchemaCells },
  defaults: {
    "flowcontrol/v1.FlowSchema": defaultFlowSchema,
  },
  subresources: {
    status: subresource(flowSchemaStatusStrategy),
  },
  descriptions: {
    "flowcontrol/v1.FlowSchema": { "": "Assigns requests to a priority level." },
    "flowcontrol/v1.FlowSchemaSpec": {
      "": "Requests and their level.",
      priorityLevelConfiguration: "The level.",
      matchingPrecedence: "Rank among the schemas; the lowest that matches decides.",
      distinguisherMethod: "Rule that separates requests into flows: ByUser or ByNamespace.",
      rules: "Rules that select the requests.",
    },
    "flowcontrol/v1.FlowSchemaStatus": { "": "Findings about the schema." },
  },
});

function flowSchemaCells({ spec, status }: FlowSchema): Cells {
  const dangling = status?.conditions?.find(({ type }) => type === "Dangling");
  return {
    PriorityLevel: spec?.priorityLevelConfiguration.name ?? "",
    MatchingPrecedence: spec?.matchingPrecedence ?? 0,
    DistinguisherMethod: spec?.distinguisherMethod?.type || "<none>",
    MissingPL: dangling === undefined ? "?" : (dangling.status ?? ""),
  };
}

function defaultFlowSchema({ spec }: FlowSchema): void {
  if (spec !== undefined) spec.matchingPrecedence ||= 1000;
}
