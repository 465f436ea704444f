import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateCustomResourceConversion } from "./custom-resource-conversion.ts";
import { validateCustomResourceNames } from "./custom-resource-names.ts";
import { validateColumns, validateSubresources } from "./custom-resource-version.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import {
  isPresent,
  objectsOf,
  requireTexts,
  textOf,
  textsOf,
  validateRequiredChoice,
} from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const scopes = ["Cluster", "Namespaced"];
const approvalAnnotation = "api-approved.kubernetes.io";
const approvalPlace = "https://github.com/kubernetes/enhancements/pull/1111";
const warningBytesMax = 256;

/** What the definition says of itself; what its schemas may say is judged where they are compiled. */
export function validateCustomResourceDefinition(definition: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(definition["spec"]);
  const names = fieldsOf(spec["names"]);
  const versions = objectsOf(spec["versions"]);
  return [
    ...validateName(definition.metadata.name ?? "", `${textOf(names["plural"])}.${textOf(spec["group"])}`),
    ...validateGroup(textOf(spec["group"]), "spec.group"),
    ...validateRequiredChoice(spec["scope"], scopes, "spec.scope"),
    ...validateSchemas(versions),
    ...validateEach(versions, (version, at) => validateVersion(version, `spec.versions[${at}]`)),
    ...validateVersionList(spec["versions"], versions, "spec.versions"),
    ...requireTexts(names, ["plural", "singular", "kind", "listKind"], "spec.names"),
    ...validateCustomResourceNames(names, "spec.names"),
    ...validatePerVersion(versions, "subresources", validateSubresources),
    ...validatePerVersion(versions, "additionalPrinterColumns", validateColumns),
    ...validateCustomResourceConversion(spec["conversion"], fieldsOf(old?.["spec"])["conversion"], "spec.conversion"),
    ...validateStoredVersions(definition, versions),
    ...validateApproval(definition, old),
    ...validatePreservation(spec, fieldsOf(old?.["spec"])),
  ];
}

/** Objects are stored under the group and the plural; once they can exist, their kind and scope stay too. */
export function validateCustomResourceDefinitionUpdate(definition: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(definition["spec"]), fieldsOf(old["spec"])];
  const [names, storedNames] = [fieldsOf(fresh["names"]), fieldsOf(stored["names"])];
  return [
    ...(isEstablished(old)
      ? [
          ...validateImmutable(fresh["scope"], stored["scope"], "spec.scope"),
          ...validateImmutable(names["kind"], storedNames["kind"], "spec.names.kind"),
        ]
      : []),
    ...validateImmutable(fresh["group"], stored["group"], "spec.group"),
    ...validateImmutable(names["plural"], storedNames["plural"], "spec.names.plural"),
  ];
}

export function validateCustomResourceDefinitionStatus(definition: KubeObject): FieldError[] {
  const status = fieldsOf(definition["status"]);
  const versions = objectsOf(fieldsOf(definition["spec"])["versions"]);
  return [
    ...validateCustomResourceNames(fieldsOf(status["acceptedNames"]), "status.acceptedNames"),
    ...validateStoredVersions(definition, versions),
  ];
}

function isEstablished(definition: KubeObject): boolean {
  const conditions = objectsOf(fieldsOf(definition["status"])["conditions"]);
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}

function validateName(name: string, required: string): FieldError[] {
  if (name === "" || name === required) return [];
  return [fieldError.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

function validateGroup(group: string, field: string): FieldError[] {
  if (group === "") return [fieldError.required(field)];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [fieldError.invalid(field, group, problems.join(","))];
  return group.includes(".") ? [] : [fieldError.invalid(field, group, "should be a domain with at least one dot")];
}

function validateSchemas(versions: readonly JsonObject[]): FieldError[] {
  return validateEach(versions, (version, at) =>
    isPresent(fieldsOf(version["schema"])["openAPIV3Schema"])
      ? []
      : [fieldError.required(`spec.versions[${at}].schema.openAPIV3Schema`, "schemas are required")],
  );
}

function validateVersion(version: JsonObject, field: string): FieldError[] {
  const name = textOf(version["name"]);
  const problems = dnsLabel1035Problems(name);
  const warning = version["deprecationWarning"];
  return [
    ...(problems.length > 0 ? [fieldError.invalid(`${field}.name`, name, problems.join(","))] : []),
    ...(isPresent(warning)
      ? warningProblems(textOf(warning), version["deprecated"] === true).map((problem) =>
          fieldError.invalid(`${field}.deprecationWarning`, warning, problem),
        )
      : []),
  ];
}

/** The warning becomes an HTTP header. */
function warningProblems(warning: string, isDeprecated: boolean): string[] {
  if (!isDeprecated) return ["can only be set for deprecated versions"];
  const unprintable = [...warning].findIndex((character) => /[^\P{C}]|[\p{Zl}\p{Zp}]/u.test(character));
  return [
    ...(Buffer.byteLength(warning) > warningBytesMax ? [`must be <= ${warningBytesMax} characters long`] : []),
    ...(warning === "" ? ["must not be an empty string"] : []),
    ...(unprintable < 0
      ? []
      : [`must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`]),
  ];
}

function validateVersionList(
  value: JsonValue | undefined,
  versions: readonly JsonObject[],
  field: string,
): FieldError[] {
  const names = versions.map(({ name }) => textOf(name));
  const storageCount = versions.filter(({ storage }) => storage === true).length;
  return [
    ...(new Set(names).size < names.length
      ? [fieldError.invalid(field, value, "must contain unique version names")]
      : []),
    ...(storageCount === 1
      ? []
      : [fieldError.invalid(field, value, "must have exactly one version marked as storage version")]),
  ];
}

/** What all versions have in common upstream keeps once, beside the versions: there its mistakes are found. */
function validatePerVersion(
  versions: readonly JsonObject[],
  name: string,
  validate: (value: JsonValue | undefined, field: string) => FieldError[],
): FieldError[] {
  const [first] = versions;
  if (first !== undefined && versions.every((version) => equalJson(version[name], first[name]))) {
    return validate(first[name], `spec.${name}`);
  }
  return validateEach(versions, (version, at) => validate(version[name], `spec.versions[${at}].${name}`));
}

/** Versions in which objects may still be stored have to stay readable. */
function validateStoredVersions(definition: KubeObject, versions: readonly JsonObject[]): FieldError[] {
  const field = "status.storedVersions";
  const stored = textsOf(fieldsOf(definition["status"])["storedVersions"]);
  if (stored.length === 0) return [fieldError.invalid(field, null, "must have at least one stored version")];
  const names = new Set(versions.map(({ name }) => textOf(name)));
  const known = new Set(stored);
  const storage = versions.filter((version) => version["storage"] === true).map(({ name }) => textOf(name));
  return [
    ...storage
      .filter((name) => !known.has(name))
      .map((name) => fieldError.invalid(field, stored, `must have the storage version ${name}`)),
    ...validateEach(stored, (name, at) => {
      const text = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
      return names.has(name) ? [] : [fieldError.invalid(`${field}[${at}]`, name, text)];
    }),
  ];
}

/** Groups of the project itself are given out in a review, which an annotation has to name. */
function validateApproval(definition: KubeObject, old: KubeObject | undefined): FieldError[] {
  const group = textOf(fieldsOf(definition["spec"])["group"]);
  if (!["k8s.io", "kubernetes.io"].some((domain) => group === domain || group.endsWith(`.${domain}`))) return [];
  const approval = definition.metadata.annotations?.[approvalAnnotation] ?? "";
  const state = approvalState(approval);
  if (state === "given" || state === stateBefore(old)) return [];
  const field = `metadata.annotations[${approvalAnnotation}]`;
  const start = `protected groups must have approval annotation "${approvalAnnotation}"`;
  return state === "missing"
    ? [fieldError.required(field, `${start}, see ${approvalPlace}`)]
    : [
        fieldError.invalid(
          field,
          approval,
          `${start} with either a URL or a reason starting with "unapproved", see ${approvalPlace}`,
        ),
      ];
}

function stateBefore(old: KubeObject | undefined): string | undefined {
  return old === undefined ? undefined : approvalState(old.metadata.annotations?.[approvalAnnotation] ?? "");
}

function approvalState(approval: string): "given" | "missing" | "invalid" {
  if (approval === "") return "missing";
  return approval.startsWith("unapproved") || /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(approval) ? "given" : "invalid";
}

function validatePreservation(spec: JsonObject, old: JsonObject): FieldError[] {
  if (spec["preserveUnknownFields"] !== true || old["preserveUnknownFields"] === true) return [];
  const text =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [fieldError.invalid("spec.preserveUnknownFields", true, text)];
}
