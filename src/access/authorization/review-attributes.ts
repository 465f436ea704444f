import { type FieldTerm, parseFieldSelector } from "../../api/field-selector.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { textOf } from "../../api/json-reading.ts";
import { type LabelRequirement, parseLabelSelector } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { Attributes, ResourceAttributes } from "./attributes.ts";

/** The question of a review, and a text for each ignored part of a selector. */
export interface ReviewQuestion {
  readonly attributes: Attributes;
  readonly errors: readonly string[];
}

/** Returns the question of a valid spec with `resourceAttributes` or `nonResourceAttributes`. */
export function reviewQuestion(spec: JsonObject): ReviewQuestion {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (isJsonObject(resourceAttributes)) return resourceQuestion(resourceAttributes);
  const { path, verb } = isJsonObject(nonResourceAttributes) ? nonResourceAttributes : ({} as JsonObject);
  return { attributes: { kind: "nonResource", path: textOf(path), verb: textOf(verb) }, errors: [] };
}

function resourceQuestion(given: JsonObject): ReviewQuestion {
  const fields = readSelector(given["fieldSelector"], parseFieldText, fieldTermOf);
  const labels = readSelector(given["labelSelector"], parseLabelText, labelRequirementOf);
  const attributes: ResourceAttributes = {
    kind: "resource",
    verb: textOf(given["verb"]),
    group: textOf(given["group"]),
    version: textOf(given["version"]) === "" ? "*" : textOf(given["version"]),
    resource: textOf(given["resource"]),
    subresource: textOf(given["subresource"]),
    namespace: textOf(given["namespace"]),
    name: textOf(given["name"]),
    selectors: { fields: fields.parsed, labels: labels.parsed },
  };
  const errors = [...ignoredText("fieldSelector", fields), ...ignoredText("labelSelector", labels)];
  return { attributes, errors };
}

interface ReadSelector<Requirement> {
  readonly parsed: readonly Requirement[];
  readonly failed: boolean;
}

/** Reads a selector. Ignored requirements only make the question broader. */
function readSelector<Requirement>(
  value: JsonValue | undefined,
  parseText: (raw: string) => readonly Requirement[] | undefined,
  parseOne: (requirement: JsonObject) => Requirement | undefined,
): ReadSelector<Requirement> {
  if (!isJsonObject(value)) return { parsed: [], failed: false };
  const { requirements } = value;
  if (Array.isArray(requirements) && requirements.length > 0) {
    const parsed = requirements.map((one) => (isJsonObject(one) ? parseOne(one) : undefined));
    const understood = parsed.filter((one) => one !== undefined);
    return { parsed: understood, failed: understood.length < parsed.length };
  }
  const parsed = parseText(textOf(value["rawSelector"]));
  return { parsed: parsed ?? [], failed: parsed === undefined };
}

function ignoredText(name: string, { failed, parsed }: ReadSelector<unknown>): string[] {
  if (!failed) return [];
  return [`spec.resourceAttributes.${name} ${parsed.length > 0 ? "partially " : ""}ignored due to parse error`];
}

function parseFieldText(raw: string): readonly FieldTerm[] | undefined {
  try {
    return parseFieldSelector(raw).terms;
  } catch {
    return undefined;
  }
}

function parseLabelText(raw: string): readonly LabelRequirement[] | undefined {
  try {
    return parseLabelSelector(raw).requirements;
  } catch {
    return undefined;
  }
}

/** Converts a requirement on a field, which allows only one value. */
function fieldTermOf({ key, operator, values }: JsonObject): FieldTerm | undefined {
  const sign = operator === "In" ? "=" : operator === "NotIn" ? "!=" : undefined;
  if (sign === undefined || !Array.isArray(values) || values.length !== 1) return undefined;
  return { label: textOf(key), operator: sign, value: textOf(values[0]) };
}

function labelRequirementOf(requirement: JsonObject): LabelRequirement | undefined {
  return labelSelectorOf({ matchExpressions: [requirement] })?.requirements[0];
}
