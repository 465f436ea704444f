import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { objectOf } from "./json-reading.ts";
import type { LabelRequirement, LabelSelector } from "./label-selector.ts";
import { labelKeyErrors, labelValueErrors } from "./label-syntax.ts";

/** Operators of `matchExpressions` → operators of selectors in text. */
const operators: ReadonlyMap<string, LabelRequirement["operator"]> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/**
 * Converts an object's `{matchLabels, matchExpressions}` to a selector; an empty one selects everything. Returns
 * undefined if a key or value is malformed, an operator does not exist, or values are missing.
 */
export function labelSelectorOf(value: JsonValue | undefined): LabelSelector | undefined {
  const { matchLabels, matchExpressions } = isJsonObject(value) ? value : ({} as JsonObject);
  const requirements: LabelRequirement[] = Object.entries(objectOf(matchLabels)).map(([key, label]) => ({
    key,
    operator: "=",
    values: [String(label)],
  }));
  for (const expression of Array.isArray(matchExpressions) ? matchExpressions : []) {
    const requirement = isJsonObject(expression) ? requirementOf(expression) : undefined;
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  if (!requirements.every(isWellFormed)) return undefined;
  return { requirements: requirements.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))) };
}

function isWellFormed({ key, values }: LabelRequirement): boolean {
  return labelKeyErrors(key).length === 0 && values.every((value) => labelValueErrors(value).length === 0);
}

function requirementOf({ key, operator, values }: JsonObject): LabelRequirement | undefined {
  const known = operators.get(String(operator));
  if (known === undefined || typeof key !== "string") return undefined;
  const texts = [...new Set((Array.isArray(values) ? values : []).map(String))].sort();
  const takesValues = known === "in" || known === "notin";
  return takesValues === texts.length > 0 ? { key, operator: known, values: texts } : undefined;
}
