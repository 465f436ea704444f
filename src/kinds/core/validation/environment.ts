import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  LocalObjectReference,
  PodSpec,
} from "../../../api/types/core-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { validateNoBacksteps } from "../../../api/validation/local-path.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  environmentNameProblems,
  prefixOfName,
} from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { environmentFieldPaths, validateFieldReference, validateResourceReference } from "./field-reference.ts";
import { validateKeyReference } from "./key-reference.ts";
import type { PlacedContainer } from "./placed-container.ts";

const moreThanOneText = "may not have more than one field specified at a time";
const valueSourcesText =
  "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";

/** Validates the variables of a container, each with a value or with exactly one source. */
export function validateEnvironment(variables: readonly EnvVar[], field: string): FieldError[] {
  return validateEach(variables, (variable, at) => [
    ...(variable.name === "" ? [fieldError.required(`${field}[${at}].name`)] : []),
    ...validateText(variable.name, environmentNameProblems, `${field}[${at}].name`),
    ...validateValueSource(variable, `${field}[${at}].valueFrom`),
  ]);
}

/** Validates ConfigMaps and Secrets whose keys all become variables. */
export function validateEnvironmentSources(sources: readonly EnvFromSource[], field: string): FieldError[] {
  return validateEach(sources, ({ prefix, configMapRef, secretRef }, at) => {
    const errors = [
      ...validateText(prefix, environmentNameProblems, `${field}[${at}].prefix`),
      ...(configMapRef === undefined ? [] : validateNameReference(configMapRef, `${field}[${at}].configMapRef`)),
      ...(secretRef === undefined ? [] : validateNameReference(secretRef, `${field}[${at}].secretRef`)),
    ];
    // Upstream names the list here, not its item.
    if (configMapRef === undefined && secretRef === undefined) {
      errors.push(fieldError.invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"));
    }
    if (configMapRef !== undefined && secretRef !== undefined) {
      errors.push(fieldError.invalid(field, "", moreThanOneText));
    }
    return errors;
  });
}

/** Rejects variables from files in volumes that are missing, or that no other container writes into. */
export function validateFileVariables(
  containers: readonly PlacedContainer[],
  { volumes = [] }: Pick<PodSpec, "volumes">,
): FieldError[] {
  const byName = new Map(volumes.map((volume) => [volume.name, volume]));
  return validateEach(containers, ({ container, field }) =>
    validateEach(container.env ?? [], ({ valueFrom }, at) => {
      if (valueFrom?.fileKeyRef === undefined) return [];
      const { volumeName } = valueFrom.fileKeyRef;
      const nameField = `${field}.env[${at}].valueFrom.fileKeyRef.volumeName`;
      const volume = byName.get(volumeName);
      if (volume === undefined) return [fieldError.notFound(nameField, volumeName)];
      if (volume.emptyDir !== undefined) return [];
      return [fieldError.invalid(nameField, volumeName, "referenced volume must be of type emptyDir")];
    }),
  );
}

function validateValueSource({ value = "", valueFrom: source }: EnvVar, field: string): FieldError[] {
  if (source === undefined) return [];
  const errors = validateSources(source, field);
  const count = Object.keys(source).length;
  if (count === 0) return [fieldError.invalid(field, "", valueSourcesText)];
  if (value !== "") {
    return [...errors, fieldError.invalid(field, "", "may not be specified when `value` is not empty")];
  }
  return count > 1 ? [...errors, fieldError.invalid(field, "", moreThanOneText)] : errors;
}

function validateSources(source: EnvVarSource, field: string): FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  return [
    ...(fieldRef === undefined ? [] : validateFieldReference(fieldRef, environmentFieldPaths, `${field}.fieldRef`)),
    ...(resourceFieldRef === undefined
      ? []
      : validateResourceReference(resourceFieldRef, `${field}.resourceFieldRef`, false)),
    ...(configMapKeyRef === undefined ? [] : validateKeyReference(configMapKeyRef, `${field}.configMapKeyRef`)),
    ...(secretKeyRef === undefined ? [] : validateKeyReference(secretKeyRef, `${field}.secretKeyRef`)),
    ...(fileKeyRef === undefined ? [] : validateFileReference(fileKeyRef, `${field}.fileKeyRef`)),
  ];
}

function validateNameReference({ name = "" }: LocalObjectReference, field: string): FieldError[] {
  if (name === "") return [fieldError.required(`${field}.name`)];
  return dnsSubdomainProblems(prefixOfName(name)).map((problem) => fieldError.invalid(`${field}.name`, name, problem));
}

/** Validates a variable in a file that another container wrote into an emptyDir volume. */
function validateFileReference({ key, volumeName, path }: FileKeySelector, field: string): FieldError[] {
  return [
    ...validateRequired(key, environmentNameProblems, `${field}.key`),
    ...validateRequired(volumeName, dnsLabelProblems, `${field}.volumeName`),
    ...(path === "" ? [fieldError.required(`${field}.path`)] : validateNoBacksteps(path, `${field}.path`)),
  ];
}

function validateRequired(text: string, problemsOf: (text: string) => readonly string[], field: string): FieldError[] {
  return text === "" ? [fieldError.required(field)] : validateText(text, problemsOf, field);
}
