import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateFlowSchema } from "./validation/flow-schema.ts";
import { validateTypedConditions } from "../../api/validation/typed-conditions.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { numberIn, structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { defaultFlowSchema } from "./defaults/flow-schema.ts";

const flowSchemaStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "whole",
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validateFlowSchema,
};

const flowSchemaStatusStrategy: Strategy = {
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
});

function flowSchemaCells(schema: JsonObject): Cells {
  const spec = structIn(schema, "spec");
  const dangling = structsIn(structIn(schema, "status"), "conditions").find(({ type }) => type === "Dangling");
  return {
    PriorityLevel: textIn(structIn(spec, "priorityLevelConfiguration"), "name"),
    MatchingPrecedence: numberIn(spec, "matchingPrecedence"),
    DistinguisherMethod: textIn(structIn(spec, "distinguisherMethod"), "type") || "<none>",
    MissingPL: dangling === undefined ? "?" : textIn(dangling, "status"),
  };
}
