import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type * as coreV1 from "../../../api/types/core-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/**
 * Terms over the labels of nodes, which say where volumes may be made. A term must differ from those before it. Like
 * upstream, a term without expressions is reported as a duplicate once for each term of the list, even for itself.
 */
export function validateTopologies(terms: readonly coreV1.TopologySelectorTerm[], field: string): FieldError[] {
  const seen: JsonObject[] = terms.map(() => ({}));
  return validateEach(terms, (term, at) => {
    const path = `${field}[${at}].matchLabelExpressions`;
    const expressions = term.matchLabelExpressions ?? [];
    const meaning = meaningOf(expressions);
    const duplicates = seen.filter((other) => equalJson(other, meaning)).map(() => fieldError.duplicate(path, ""));
    seen.push(meaning);
    return [...validateExpressions(expressions, path), ...duplicates];
  });
}

function validateExpressions(
  expressions: readonly coreV1.TopologySelectorLabelRequirement[],
  field: string,
): FieldError[] {
  const keys = new Set<string>();
  return validateEach(expressions, ({ key, values }, at) => {
    const errors = validateValues(values ?? [], `${field}[${at}].values`);
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

/** Key → its values. The order of neither counts. */
function meaningOf(expressions: readonly coreV1.TopologySelectorLabelRequirement[]): JsonObject {
  return Object.fromEntries(expressions.map(({ key, values }) => [`=${key}`, [...new Set(values ?? [])].toSorted()]));
}
