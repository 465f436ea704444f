import { type FieldError, fieldError, fieldErrorText } from "../../api/field-error.ts";
import type { JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { readOpenApiSchema } from "../../api/structural/open-api-schema.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import { structuralObstacle, validateStructural } from "../../kinds/apiextensions/validation/structural-rules.ts";
import type { Condition } from "./conditions.ts";

/**
 * Returns the condition of a definition whose schemas are not structural. Only definitions that an older server stored
 * can have such schemas. Yields between patterns.
 */
export function* nonStructuralCondition(definition: KubeObject): Generator<void, Condition | undefined> {
  const { spec } = definition as unknown as CustomResourceDefinition;
  const errors: FieldError[] = [];
  if (spec.preserveUnknownFields === true) {
    errors.push(fieldError.invalid("spec.preserveUnknownFields", true, "must be false"));
  }
  for (const [at, { name, schema }] of (spec.versions ?? []).entries()) {
    const root = readOpenApiSchema(objectOf(schema as JsonValue | undefined)["openAPIV3Schema"]);
    if (root === undefined) continue;
    const obstacle = structuralObstacle(root);
    if (obstacle !== undefined) {
      const message = `failed to check validation schema for version ${name}: ${obstacle}`;
      return { type: "NonStructuralSchema", status: "Unknown", reason: "StructuralError", message };
    }
    errors.push(...(yield* validateStructural(root, `spec.versions[${at}].schema.openAPIV3Schema`)));
  }
  if (errors.length === 0) return undefined;
  const texts = [...new Set(errors.map(fieldErrorText))];
  const message = texts.length === 1 ? String(texts[0]) : `[${texts.join(", ")}]`;
  return { type: "NonStructuralSchema", status: "True", reason: "Violations", message };
}
