import { isDeeperThan, stringifyJson } from "../../api/codec/json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import { parseJsonText } from "./json-text.ts";

/**
 * The behaviour of an autoscaler as text. Its keys begin with capitals and absent values are null: so it has always been
 * written, and any case is read.
 */
export function behaviorText(behavior: JsonObject): string {
  return stringifyJson({ ScaleUp: rulesOf(behavior["scaleUp"]), ScaleDown: rulesOf(behavior["scaleDown"]) });
}

/** Returns undefined for a text that does not describe a behaviour. */
export function behaviorFromText(text: JsonValue | undefined): JsonObject | undefined {
  const document = parseJsonText(text);
  if (document === undefined || isDeeperThan(document, depthMax)) return undefined;
  const behavior = lowered(document);
  return isJsonObject(behavior) && Object.keys(behavior).length > 0 ? behavior : undefined;
}

function rulesOf(rules: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(rules)) return null;
  const { stabilizationWindowSeconds, selectPolicy, policies, tolerance } = rules;
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
    SelectPolicy: selectPolicy ?? null,
    Policies: Array.isArray(policies) ? policies.map(policyOf) : null,
    Tolerance: tolerance ?? null,
  };
}

function policyOf(policy: JsonValue): JsonObject {
  const { type = "", value = 0, periodSeconds = 0 } = objectOf(policy);
  return { Type: type, Value: value, PeriodSeconds: periodSeconds };
}

/** A behaviour has three levels of objects, so deeper text cannot be one. */
const depthMax = 6;

function lowered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(lowered);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(
    entries.map(([name, inner]) => [fieldNames.get(name.toLowerCase()) ?? name, lowered(inner)]),
  );
}

const fieldNames: ReadonlyMap<string, string> = new Map(
  [
    "scaleUp",
    "scaleDown",
    "stabilizationWindowSeconds",
    "selectPolicy",
    "policies",
    "tolerance",
    "type",
    "value",
    "periodSeconds",
  ].map((name) => [name.toLowerCase(), name]),
);
