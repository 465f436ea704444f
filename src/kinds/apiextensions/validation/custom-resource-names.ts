import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { dnsLabel1035Problems } from "../../../api/validation/names.ts";
import { textOf, textsOf } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** The names of a custom resource, as they are asked for and as they are given; absent ones pass. */
export function validateCustomResourceNames(names: JsonObject, field: string): FieldError[] {
  const [kind, listKind] = [textOf(names["kind"]), textOf(names["listKind"])];
  return [
    ...["plural", "singular"].flatMap((name) => validateLabel(textOf(names[name]), `${field}.${name}`)),
    ...["kind", "listKind"].flatMap((name) => validateKind(textOf(names[name]), `${field}.${name}`)),
    ...validateLabels(textsOf(names["shortNames"]), `${field}.shortNames`),
    ...(kind !== "" && kind === listKind
      ? [fieldError.invalid(`${field}.listKind`, listKind, "kind and listKind may not be the same")]
      : []),
    ...validateLabels(textsOf(names["categories"]), `${field}.categories`),
  ];
}

function validateLabels(labels: readonly string[], field: string): FieldError[] {
  return validateEach(labels, (label, at) => {
    const problems = dnsLabel1035Problems(label);
    return problems.length === 0 ? [] : [fieldError.invalid(`${field}[${at}]`, label, problems.join(","))];
  });
}

function validateLabel(label: string, field: string): FieldError[] {
  const problems = label === "" ? [] : dnsLabel1035Problems(label);
  return problems.length === 0 ? [] : [fieldError.invalid(field, label, problems.join(","))];
}

function validateKind(kind: string, field: string): FieldError[] {
  const problems = kind === "" ? [] : dnsLabel1035Problems(kind.toLowerCase());
  if (problems.length === 0) return [];
  const text = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
  return [fieldError.invalid(field, kind, text)];
}
