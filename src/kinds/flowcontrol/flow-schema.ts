import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateFlowSchema } from "./validation/flow-schema.ts";
import { validateTypedConditions } from "../../api/validation/typed-conditions.ts";
import type { FlowSchema } from "../../api/types/flowcontrol-v1.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { defaultFlowSchema } from "./defaults/flow-schema.ts";

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

function flowSchemaCells(schema: JsonObject): Cells {
  const spec = objectOf(schema["spec"]);
  const dangling = objectsOf(objectOf(schema["status"])["conditions"]).find(({ type }) => type === "Dangling");
  return {
    PriorityLevel: textOf(objectOf(spec["priorityLevelConfiguration"])["name"]),
    MatchingPrecedence: numberOf(spec["matchingPrecedence"]),
    DistinguisherMethod: textOf(objectOf(spec["distinguisherMethod"])["type"]) || "<none>",
    MissingPL: dangling === undefined ? "?" : textOf(dangling["status"]),
  };
}
