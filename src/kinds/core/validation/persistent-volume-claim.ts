import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { validateAccessModes } from "./access-modes.ts";
import { immutableText, validateImmutable } from "../../../api/validation/immutable.ts";
import { isPresent, objectOf, textOf } from "../../../api/json-reading.ts";
import { validateChoice, validateText } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import {
  parsedQuantity,
  validateQuantityNotNegative,
  validateQuantityPositive,
} from "../../../api/validation/quantity.ts";

const volumeModes = ["Block", "Filesystem"];
const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const resizeStatuses = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizePending",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
].toSorted();

export function validateClaim(claim: KubeObject): FieldError[] {
  return validateClaimSpec(objectOf(claim["spec"]), "spec");
}

/** The spec of a claim, or of a template of claims at another path. */
export function validateClaimSpec(spec: JsonObject, field: string): FieldError[] {
  return [
    ...validateAccessModes(spec["accessModes"], "at least 1 access mode is required", `${field}.accessModes`),
    ...validateLabelSelector(spec["selector"], `${field}.selector`),
    ...validateStorage(spec, `${field}.resources[storage]`),
    ...validateText(spec["storageClassName"], dnsSubdomainProblems, `${field}.storageClassName`),
    ...validateChoice(spec["volumeMode"], volumeModes, `${field}.volumeMode`),
    ...validateDataSources(spec, field),
    ...validateText(spec["volumeAttributesClassName"], dnsSubdomainProblems, `${field}.volumeAttributesClassName`),
  ];
}

/** A claim asks once; bound to a volume it may ask for more of it, or for another class of attributes. */
export function validateClaimUpdate(claim: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [objectOf(claim["spec"]), objectOf(old["spec"])];
  const errors = validateClassAnnotation(claim, old);
  if (!equalJson(comparable(fresh, claim, old), comparable(stored, old, old))) {
    const text =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    errors.push(fieldError.forbidden("spec", text));
  }
  return [
    ...errors,
    ...validateNoShrinking(fresh, stored, old),
    ...validateImmutable(fresh["volumeMode"], stored["volumeMode"], "volumeMode"),
    ...validateAttributesClassUpdate(fresh["volumeAttributesClassName"], stored["volumeAttributesClassName"]),
  ];
}

export function validateClaimStatus(claim: KubeObject): FieldError[] {
  const status = objectOf(claim["status"]);
  const { capacity, allocatedResources, allocatedResourceStatuses } = status;
  return [
    ...Object.entries(objectOf(capacity)).flatMap(([name, amount]) =>
      validateQuantityNotNegative(amount, `status.capacity[${name}]`),
    ),
    ...Object.entries(objectOf(allocatedResourceStatuses)).flatMap(([name, state]) => {
      const errors = validateResourceKey(name, "status.allocatedResourceStatus");
      if (resizeStatuses.includes(textOf(state))) return errors;
      return [...errors, fieldError.notSupported("status.allocatedResourceStatus", name, resizeStatuses)];
    }),
    ...Object.entries(objectOf(allocatedResources)).flatMap(([name, amount]) => {
      const errors = validateResourceKey(name, "status.allocatedResources");
      return errors.length > 0 ? errors : validateQuantityNotNegative(amount, `status.allocatedResources[${name}]`);
    }),
  ];
}

function validateResourceKey(name: string, field: string): FieldError[] {
  const errors = labelKeyErrors(name).map((problem) => fieldError.invalid(field, name, problem));
  if (errors.length > 0) return errors;
  const isNative = !name.includes("/") || name.includes("kubernetes.io/");
  return isNative && name !== "storage" ? [fieldError.notSupported(field, name, ["storage"])] : [];
}

function storageOf(spec: JsonObject): JsonValue | undefined {
  return objectOf(objectOf(spec["resources"])["requests"])["storage"];
}

function validateStorage(spec: JsonObject, field: string): FieldError[] {
  const storage = storageOf(spec);
  return storage === undefined ? [fieldError.required(field)] : validateQuantityPositive(storage, field);
}

/** What fills the volume. The older field and its successor say the same, unless the newer one names a namespace. */
function validateDataSources({ dataSource: older, dataSourceRef: newer }: JsonObject, field: string): FieldError[] {
  const errors = [
    ...(isPresent(older) ? validateDataSource(objectOf(older), `${field}.dataSource`) : []),
    ...(isPresent(newer) ? validateDataSource(objectOf(newer), `${field}.dataSourceRef`) : []),
  ];
  if (!isPresent(older) || !isPresent(newer)) return errors;
  const { namespace, ...reference } = objectOf(newer);
  // Upstream shows the path of the field instead of its value, and a path has no JSON.
  const refuse = (text: string) => [...errors, fieldError.invalid(field, {}, text)];
  if (textOf(namespace) !== "") return refuse("may not be specified when dataSourceRef.namespace is specified");
  return equalJson(older, reference) ? errors : refuse("must match dataSourceRef");
}

function validateDataSource({ apiGroup, kind, name, namespace }: JsonObject, field: string): FieldError[] {
  const errors = textOf(name) === "" ? [fieldError.required(`${field}.name`)] : [];
  if (textOf(kind) === "") errors.push(fieldError.required(`${field}.kind`));
  if (textOf(apiGroup) === "" && kind !== "PersistentVolumeClaim") {
    const text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(fieldError.invalid(field, textOf(kind), text));
  }
  return [
    ...errors,
    ...validateText(apiGroup, dnsSubdomainProblems, `${field}.apiGroup`),
    ...validateText(namespace, dnsLabelProblems, `${field}.namespace`),
  ];
}

/** The class was an annotation before it was a field; it cannot change, and may move from one to the other. */
function validateClassAnnotation(claim: KubeObject, old: KubeObject): FieldError[] {
  if (movesClassToField(claim, old)) return [];
  const [fresh, stored] = [claim, old].map(({ metadata }) => metadata.annotations?.[classAnnotation] ?? "");
  if (fresh === stored) return [];
  return [fieldError.invalid(`metadata.annotations[${classAnnotation}]`, fresh, immutableText)];
}

function movesClassToField(claim: KubeObject, old: KubeObject): boolean {
  const annotation = old.metadata.annotations?.[classAnnotation];
  const kept = claim.metadata.annotations?.[classAnnotation];
  return (
    annotation !== undefined &&
    !isPresent(objectOf(old["spec"])["storageClassName"]) &&
    objectOf(claim["spec"])["storageClassName"] === annotation &&
    (kept === undefined || kept === annotation)
  );
}

/** The spec with everything that may change set to what it was. */
function comparable(spec: JsonObject, claim: KubeObject, old: KubeObject): JsonObject {
  const stored = objectOf(old["spec"]);
  const { volumeAttributesClassName: _class, ...rest } = spec;
  const same: JsonObject = { ...rest };
  if (textOf(stored["volumeName"]) === "") delete same["volumeName"];
  if (!isPresent(stored["storageClassName"]) && mayNameClass(claim, old)) delete same["storageClassName"];
  if (objectOf(claim["status"])["phase"] === "Bound") same["resources"] = withStorage(spec, storageOf(stored));
  return same;
}

function mayNameClass(claim: KubeObject, old: KubeObject): boolean {
  const annotation = old.metadata.annotations?.[classAnnotation];
  return annotation === undefined || objectOf(claim["spec"])["storageClassName"] === annotation;
}

function withStorage(spec: JsonObject, storage: JsonValue | undefined): JsonObject {
  const resources = objectOf(spec["resources"]);
  if (!isPresent(resources["requests"])) return resources;
  return { ...resources, requests: { ...objectOf(resources["requests"]), storage: storage ?? null } };
}

/** Less is asked for only after growing has failed, and then still more than there is. */
function validateNoShrinking(fresh: JsonObject, stored: JsonObject, old: KubeObject): FieldError[] {
  const [size, before] = [storageOf(fresh), storageOf(stored)].map(parsedQuantity);
  if (size === undefined || before === undefined || compareQuantities(size, before) >= 0) return [];
  const actual = parsedQuantity(objectOf(objectOf(old["status"])["capacity"])["storage"] ?? "0");
  if (actual !== undefined && compareQuantities(size, actual) > 0) return [];
  return [fieldError.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")];
}

function validateAttributesClassUpdate(fresh: JsonValue | undefined, stored: JsonValue | undefined): FieldError[] {
  if (!isPresent(stored) || textOf(fresh) !== "") return [];
  const to = isPresent(fresh) ? "an empty string" : "nil";
  if (fresh === stored) return [];
  return [fieldError.forbidden("spec.volumeAttributesClassName", `update from non-nil value to ${to} is forbidden`)];
}
