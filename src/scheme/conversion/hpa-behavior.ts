import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";

/**
 * The behaviour of an autoscaler as text. Its keys begin with capitals and absent values are null: so it has always been
 * written, and any case is read.
 */
export function behaviorText(behavior: JsonObject): string {
  return JSON.stringify({ ScaleUp: rulesOf(behavior["scaleUp"]), ScaleDown: rulesOf(behavior["scaleDown"]) });
}

/** Undefined for text that is no behaviour. */
export function behaviorFromText(text: JsonValue | undefined): JsonObject | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const behavior = lowered(JSON.parse(text) as JsonValue, 0);
    return isJsonObject(behavior) && Object.keys(behavior).length > 0 ? behavior : undefined;
  } catch {
    return undefined;
  }
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
  const { type = "", value = 0, periodSeconds = 0 } = isJsonObject(policy) ? policy : {};
  return { Type: type, Value: value, PeriodSeconds: periodSeconds };
}

/** A behaviour has three levels of objects; deeper text is none. */
const depthMax = 6;

function lowered(value: JsonValue, depth: number): JsonValue {
  if (depth > depthMax) throw new Error("nested too deeply");
  if (Array.isArray(value)) return value.map((item) => lowered(item, depth + 1));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(
    entries.map(([name, inner]) => [fieldNames.get(name.toLowerCase()) ?? name, lowered(inner, depth + 1)]),
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
