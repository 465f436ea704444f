import { type FieldError, fieldError } from "../field-error.ts";
import { parseApiVersion } from "../gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { textOf } from "../json-reading.ts";
import { labelKeyErrors } from "../label-syntax.ts";
import type { ObjectMeta } from "../object-meta.ts";
import { foregroundDeletionFinalizer, namespaceFinalizer, orphanFinalizer } from "../vendor.ts";
import { validateFieldManager } from "./field-manager.ts";
import { validateImmutable } from "./immutable.ts";
import { fieldErrorsMax, validateAnnotations, validateLabels } from "./labels.ts";
import { dnsLabelProblems, pathSegmentProblems, prefixOfName } from "./names.ts";

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  /** Returns a message for each rule that the name breaks. */
  readonly validateName: (name: string) => readonly string[];
  /** Whether `generateName` is checked too; true by default. */
  readonly validatesPrefix?: boolean | undefined;
  /** Path of the metadata: `metadata`, except in a template. */
  readonly path?: string;
  /** Requires a domain in every finalizer except those of Kubernetes itself. */
  readonly qualifiesFinalizers?: boolean;
}

/** Rules of metadata that updates of one kind check in addition to the general ones. */
export interface RepeatedMetaRules extends ObjectMetaRules {
  readonly repeats: MetaRules;
}

/**
 * Metadata rules that the validation of a kind repeats: `whole` those of a complete object, `update` those of a change.
 * Upstream reports an error once for each, and clients compare causes.
 */
export type MetaRules = "none" | "whole" | "update" | "both";

const standardFinalizers: ReadonlySet<string> = new Set([
  namespaceFinalizer,
  orphanFinalizer,
  foregroundDeletionFinalizer,
]);
const subresourceBytesMax = 256;
const ownersShownMax = 64;

/** Validates metadata by the rules of every object. */
export function validateObjectMeta(
  meta: ObjectMeta,
  { namespaced, validateName, validatesPrefix, path = "metadata", qualifiesFinalizers = false }: ObjectMetaRules,
): FieldError[] {
  const shared = validateSharedParts(meta, path);
  return [
    ...validateNames(meta, { validateName, validatesPrefix }, path),
    ...validateNamespace(meta, namespaced, path),
    ...validateGeneration(meta, path),
    ...shared.beforeFinalizers,
    ...shared.finalizers,
    ...shared.managedFields,
    ...(qualifiesFinalizers ? validateFinalizerDomains(meta.finalizers ?? [], `${path}.finalizers`) : []),
  ];
}

/**
 * Validates metadata that replaces `old`: by the rules of every object first, and then by those that the kind repeats.
 */
export function validateObjectMetaUpdate(fresh: ObjectMeta, old: ObjectMeta, rules: RepeatedMetaRules): FieldError[] {
  const { repeats, namespaced, path = "metadata", qualifiesFinalizers = false } = rules;
  const shared = validateSharedParts(fresh, path);
  const change = [...validateChange(fresh, old, path), ...shared.beforeFinalizers, ...shared.managedFields];
  const whole = [
    ...validateNamespace(fresh, namespaced, path),
    ...validateGeneration(fresh, path),
    ...shared.beforeFinalizers,
    ...shared.finalizers,
    ...shared.managedFields,
  ];
  const domains = qualifiesFinalizers ? validateFinalizerDomains(fresh.finalizers ?? [], `${path}.finalizers`) : [];
  return [
    ...validateNames(fresh, { validateName: pathSegmentProblems }, path),
    ...whole,
    ...change,
    ...(repeats === "update" || repeats === "both" ? [...change, ...domains] : []),
    ...(repeats === "whole" || repeats === "both" ? [...validateNames(fresh, rules, path), ...whole, ...domains] : []),
  ];
}

/** Validates a change of metadata, for kinds that repeat these rules after rules of their own. */
export function validateMetaChange(
  fresh: ObjectMeta,
  old: ObjectMeta,
  path = "metadata",
  qualifiesFinalizers = true,
): FieldError[] {
  const { beforeFinalizers, managedFields } = validateSharedParts(fresh, path);
  const domains = qualifiesFinalizers ? validateFinalizerDomains(fresh.finalizers ?? [], `${path}.finalizers`) : [];
  return [...validateChange(fresh, old, path), ...beforeFinalizers, ...managedFields, ...domains];
}

/** Reports fields that an update may not change. */
function validateChange(fresh: ObjectMeta, old: ObjectMeta, path: string): FieldError[] {
  const errors = validateNoNewFinalizers(fresh, old, `${path}.finalizers`);
  if ((fresh.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(fieldError.invalid(`${path}.generation`, fresh.generation ?? 0, "must not be decremented"));
  }
  for (const field of immutableFields) {
    if (fresh[field] === old[field]) continue;
    errors.push(...validateImmutable(fresh[field], old[field], `${path}.${field}`));
  }
  return errors;
}

const immutableFields = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const satisfies (keyof ObjectMeta)[];

interface SharedParts {
  readonly beforeFinalizers: readonly FieldError[];
  readonly finalizers: readonly FieldError[];
  readonly managedFields: readonly FieldError[];
}

function validateSharedParts(meta: ObjectMeta, path: string): SharedParts {
  return {
    beforeFinalizers: [
      ...validateLabels(meta.labels, `${path}.labels`),
      ...validateAnnotations(meta.annotations, `${path}.annotations`),
      ...validateOwnerReferences(meta, `${path}.ownerReferences`),
    ],
    finalizers: validateFinalizers(meta.finalizers ?? [], `${path}.finalizers`),
    managedFields: validateManagedFields(meta.managedFields ?? [], `${path}.managedFields`),
  };
}

function validateGeneration({ generation = 0 }: ObjectMeta, path: string): FieldError[] {
  if (generation >= 0) return [];
  return [fieldError.invalid(`${path}.generation`, generation, "must be greater than or equal to 0")];
}

function validateNames(
  meta: ObjectMeta,
  { validateName, validatesPrefix = true }: Pick<ObjectMetaRules, "validateName" | "validatesPrefix">,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const prefix = meta.generateName ?? "";
  if (prefix !== "" && validatesPrefix) {
    for (const problem of validateName(prefixOfName(prefix))) {
      errors.push(fieldError.invalid(`${path}.generateName`, prefix, problem));
    }
  }
  if ((meta.name ?? "") === "") {
    errors.push(fieldError.required(`${path}.name`, "name or generateName is required"));
    return errors;
  }
  for (const problem of validateName(meta.name as string)) {
    errors.push(fieldError.invalid(`${path}.name`, meta.name, problem));
  }
  return errors;
}

/** Validates `generateName` by the rule of every object: names are segments of paths. */
export function validatePrefixSegment({ generateName = "" }: ObjectMeta): FieldError[] {
  const problems = pathSegmentProblems(`${generateName}x`);
  return problems.map((problem) => fieldError.invalid("metadata.generateName", generateName, problem));
}

function validateNamespace(meta: ObjectMeta, namespaced: boolean, path: string): FieldError[] {
  const namespace = meta.namespace ?? "";
  const field = `${path}.namespace`;
  if (!namespaced) {
    return namespace === "" ? [] : [fieldError.forbidden(field, "not allowed on this type")];
  }
  if (namespace === "") return [fieldError.required(field)];
  return dnsLabelProblems(namespace).map((problem) => fieldError.invalid(field, namespace, problem));
}

function validateOwnerReferences(meta: ObjectMeta, field: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of meta.ownerReferences ?? []) {
    if (errors.length >= fieldErrorsMax) break;
    errors.push(...validateOwnerReference(owner, field));
    if (owner["controller"] !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller !== undefined) {
      const text = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(
        fieldError.invalid(field, (meta.ownerReferences ?? []).slice(0, ownersShownMax).map(shownOwner), text),
      );
    }
    controller ??= name;
  }
  return errors;
}

function validateOwnerReference(owner: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const version = textOf(owner["apiVersion"]);
  const groupVersion = parseApiVersion(version);
  if (groupVersion === undefined || groupVersion.version === "") {
    errors.push(fieldError.invalid(`${field}.apiVersion`, version, "version must not be empty"));
  }
  for (const key of ["kind", "name", "uid"]) {
    if (textOf(owner[key]) === "") errors.push(fieldError.invalid(`${field}.${key}`, "", "must not be empty"));
  }
  if (textOf(owner["kind"]) === "Event" && version === "v1") {
    errors.push(fieldError.invalid(field, shownOwner(owner), "/v1, Kind=Event is disallowed from being an owner"));
  }
  return errors;
}

/** Returns an owner as messages show it: fields without a zero value of their own are always present. */
function shownOwner({ apiVersion = "", kind = "", name = "", uid = "", ...flags }: JsonObject): JsonObject {
  return { apiVersion, kind, name, uid, ...flags };
}

function validateFinalizers(finalizers: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of finalizers) {
    if (errors.length >= fieldErrorsMax) break;
    for (const problem of labelKeyErrors(finalizer)) errors.push(fieldError.invalid(field, finalizer, problem));
  }
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundDeletionFinalizer)) {
    const text = `finalizer ${orphanFinalizer} and ${foregroundDeletionFinalizer} cannot be both set`;
    errors.push(fieldError.invalid(field, [...finalizers], text));
  }
  return errors;
}

function validateFinalizerDomains(finalizers: readonly string[], field: string): FieldError[] {
  return finalizers
    .flatMap((finalizer, at) => validateFinalizerDomain(finalizer, `${field}[${at}]`))
    .slice(0, fieldErrorsMax);
}

/** Requires a domain in a finalizer, except in those of Kubernetes itself. */
export function validateFinalizerDomain(finalizer: string, field: string): FieldError[] {
  if (finalizer.includes("/") || standardFinalizers.has(finalizer)) return [];
  return [fieldError.invalid(field, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
}

function validateNoNewFinalizers(fresh: ObjectMeta, old: ObjectMeta, field: string): FieldError[] {
  if (old.deletionTimestamp === undefined) return [];
  const known = new Set(old.finalizers);
  const added = [...new Set(fresh.finalizers)].filter((finalizer) => !known.has(finalizer));
  if (added.length === 0) return [];
  const list = added.slice(0, fieldErrorsMax).map((finalizer) => JSON.stringify(finalizer));
  const text = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list.join(", ")}}`;
  return [fieldError.forbidden(field, text)];
}

function validateManagedFields(entries: readonly JsonValue[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [at, entry] of entries.entries()) {
    if (errors.length >= fieldErrorsMax) break;
    if (isJsonObject(entry)) errors.push(...validateManagedFieldsEntry(entry, `${field}[${at}]`));
  }
  return errors;
}

function validateManagedFieldsEntry(entry: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const operation = textOf(entry["operation"]);
  if (operation !== "Apply" && operation !== "Update") {
    errors.push(fieldError.invalid(`${field}.operation`, operation, "must be `Apply` or `Update`"));
  }
  const fieldsType = textOf(entry["fieldsType"]);
  if (fieldsType !== "" && fieldsType !== "FieldsV1") {
    errors.push(fieldError.invalid(`${field}.fieldsType`, fieldsType, "must be `FieldsV1`"));
  }
  errors.push(...validateFieldManager(textOf(entry["manager"]), `${field}.manager`));
  if (Buffer.byteLength(textOf(entry["subresource"])) > subresourceBytesMax) {
    errors.push(fieldError.tooLong(`${field}.subresource`, subresourceBytesMax));
  }
  return errors;
}
