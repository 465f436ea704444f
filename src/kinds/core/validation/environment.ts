import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { environmentFieldPaths, validateFieldReference, validateResourceReference } from "./field-reference.ts";
import { validateKeyReference } from "./key-reference.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateDescendingPath } from "../../../api/validation/local-path.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  environmentNameProblems,
  prefixOfName,
} from "../../../api/validation/names.ts";
import { isPresent, objectsOf, textOf, validateText } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

type SourceRule = (source: JsonObject, field: string) => FieldError[];

const valueSources: Readonly<Record<string, SourceRule>> = {
  fieldRef: (source, field) => validateFieldReference(source, environmentFieldPaths, field),
  resourceFieldRef: (source, field) => validateResourceReference(source, field, false),
  configMapKeyRef: validateKeyReference,
  secretKeyRef: validateKeyReference,
  fileKeyRef: validateFileReference,
};
const bulkSources: Readonly<Record<string, SourceRule>> = {
  configMapRef: validateNameReference,
  secretRef: validateNameReference,
};

/** Variables of a container, each with a value or with exactly one source. */
export function validateEnvironment(variables: JsonValue | undefined, field: string): FieldError[] {
  return validateEach(objectsOf(variables), (variable, at) => [
    ...(textOf(variable["name"]) === "" ? [fieldError.required(`${field}[${at}].name`)] : []),
    ...validateText(variable["name"], environmentNameProblems, `${field}[${at}].name`),
    ...validateValueSource(variable, `${field}[${at}].valueFrom`),
  ]);
}

/** ConfigMaps and Secrets whose keys all become variables. */
export function validateEnvironmentSources(sources: JsonValue | undefined, field: string): FieldError[] {
  return validateEach(objectsOf(sources), (source, at) => {
    const set = Object.keys(bulkSources).filter((name) => isPresent(source[name]));
    return [
      ...validateText(source["prefix"], environmentNameProblems, `${field}[${at}].prefix`),
      ...set.flatMap((name) => bulkSources[name]?.(fieldsOf(source[name]), `${field}[${at}].${name}`) ?? []),
      // Upstream names the list here, not its item.
      ...(set.length === 0 ? [fieldError.invalid(field, "", mustSpecify(bulkSources))] : []),
      ...(set.length > 1 ? [fieldError.invalid(field, "", moreThanOneText)] : []),
    ];
  });
}

const moreThanOneText = "may not have more than one field specified at a time";

function validateValueSource(variable: JsonObject, field: string): FieldError[] {
  const source = variable["valueFrom"];
  if (!isPresent(source)) return [];
  const fields = fieldsOf(source);
  const set = Object.keys(valueSources).filter((name) => isPresent(fields[name]));
  const errors = set.flatMap((name) => valueSources[name]?.(fieldsOf(fields[name]), `${field}.${name}`) ?? []);
  if (set.length === 0) errors.push(fieldError.invalid(field, "", mustSpecify(valueSources)));
  else if (textOf(variable["value"]) !== "") {
    errors.push(fieldError.invalid(field, "", "may not be specified when `value` is not empty"));
  } else if (set.length > 1) errors.push(fieldError.invalid(field, "", moreThanOneText));
  return errors;
}

/** `must specify one of: ` and the names, the last of them after an `or`. */
function mustSpecify(sources: Readonly<Record<string, SourceRule>>): string {
  const names = Object.keys(sources).map((name) => `\`${name}\``);
  return `must specify one of: ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

function validateNameReference(reference: JsonObject, field: string): FieldError[] {
  const name = textOf(reference["name"]);
  if (name === "") return [fieldError.required(`${field}.name`)];
  return dnsSubdomainProblems(prefixOfName(name)).map((problem) => fieldError.invalid(`${field}.name`, name, problem));
}

/** A variable in a file that another container wrote into an emptyDir volume. */
function validateFileReference(reference: JsonObject, field: string): FieldError[] {
  const path = textOf(reference["path"]);
  return [
    ...required(reference, "key", environmentNameProblems, field),
    ...required(reference, "volumeName", dnsLabelProblems, field),
    ...(path === "" ? [fieldError.required(`${field}.path`)] : validateDescendingPath(path, `${field}.path`)),
  ];
}

function required(
  owner: JsonObject,
  name: string,
  problemsOf: (text: string) => readonly string[],
  field: string,
): FieldError[] {
  if (textOf(owner[name]) === "") return [fieldError.required(`${field}.${name}`)];
  return validateText(owner[name], problemsOf, `${field}.${name}`);
}
