import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { objectsOf, textOf } from "../../../api/validation/fields.ts";

const conditionsMax = 64;

/** Expressions that all have to hold before a webhook or policy is asked; what they mean is for the CEL compiler. */
export function validateMatchConditions(value: JsonValue | undefined, field: string): FieldError[] {
  const conditions = objectsOf(value);
  const errors = conditions.length > conditionsMax ? [fieldError.tooMany(field, conditions.length, conditionsMax)] : [];
  const seen = new Set<string>();
  for (const [at, condition] of conditions.entries()) {
    const path = `${field}[${at}]`;
    const name = textOf(condition["name"]);
    if (textOf(condition["expression"]).trim() === "") errors.push(fieldError.required(`${path}.expression`));
    if (name === "") {
      errors.push(fieldError.required(`${path}.name`));
      continue;
    }
    errors.push(...labelKeyErrors(name).map((problem) => fieldError.invalid(`${path}.name`, name, problem)));
    if (seen.has(name)) errors.push(fieldError.duplicate(`${path}.name`, name));
    seen.add(name);
  }
  return errors;
}
