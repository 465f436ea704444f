import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { CustomResourceDefinitionNames } from "../../../api/types/apiextensions-v1.ts";
import { dnsLabel1035Problems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** Checks that the names are there that a definition has to have. */
export function requireNames(names: CustomResourceDefinitionNames, field: string): FieldError[] {
  const { plural, singular = "", kind, listKind = "" } = names;
  return Object.entries({ plural, singular, kind, listKind })
    .filter(([, value]) => value === "")
    .map(([name]) => fieldError.required(`${field}.${name}`));
}

/** Checks the names of a custom resource, requested or accepted. Absent names pass. */
export function validateCustomResourceNames(names: CustomResourceDefinitionNames, field: string): FieldError[] {
  const { plural, singular = "", kind, listKind = "", shortNames, categories } = names;
  return [
    ...validateLabel(plural, `${field}.plural`),
    ...validateLabel(singular, `${field}.singular`),
    ...validateKind(kind, `${field}.kind`),
    ...validateKind(listKind, `${field}.listKind`),
    ...validateLabels(shortNames, `${field}.shortNames`),
    ...(kind !== "" && kind === listKind
      ? [fieldError.invalid(`${field}.listKind`, listKind, "kind and listKind may not be the same")]
      : []),
    ...validateLabels(categories, `${field}.categories`),
  ];
}

function validateLabels(labels: readonly string[] | undefined, field: string): FieldError[] {
  return validateEach(labels ?? [], (label, at) => {
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
