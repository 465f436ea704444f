import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { objectsOf, textOf, textsOf } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** Where volumes may be made: terms over the labels of nodes, no two of them the same. */
export function validateTopologies(value: JsonValue | undefined, field: string): FieldError[] {
  const terms = objectsOf(value);
  const errors: FieldError[] = [];
  const seen: JsonObject[] = [];
  for (const [at, term] of terms.entries()) {
    if (errors.length >= fieldErrorsMax) break;
    const path = `${field}[${at}].matchLabelExpressions`;
    const expressions = objectsOf(term["matchLabelExpressions"]);
    errors.push(...validateExpressions(expressions, path));
    const meaning = meaningOf(expressions);
    if (seen.some((other) => equalJson(other, meaning))) errors.push(fieldError.duplicate(path, ""));
    seen.push(meaning);
  }
  return errors;
}

function validateExpressions(expressions: readonly JsonObject[], field: string): FieldError[] {
  const keys = new Set<string>();
  return validateEach(expressions, (expression, at) => {
    const key = textOf(expression["key"]);
    const errors = validateValues(textsOf(expression["values"]), `${field}[${at}].values`);
    for (const problem of labelKeyErrors(key)) errors.push(fieldError.invalid(`${field}[${at}].key`, key, problem));
    if (keys.has(key)) errors.push(fieldError.duplicate(`${field}[${at}].key`, key));
    keys.add(key);
    return errors;
  });
}

function validateValues(values: readonly string[], field: string): FieldError[] {
  if (values.length === 0) return [fieldError.required(field)];
  const seen = new Set<string>();
  return validateEach(values, (value, at) => {
    if (seen.has(value)) return [fieldError.duplicate(`${field}[${at}]`, value)];
    seen.add(value);
    return [];
  });
}

/** Key → its values; the order of neither counts. */
function meaningOf(expressions: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(
    expressions.map((expression) => [
      `=${textOf(expression["key"])}`,
      [...new Set(textsOf(expression["values"]))].sort(),
    ]),
  );
}
