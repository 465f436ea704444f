import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  TypedObjectReference,
  VolumeResourceRequirements,
} from "../../../api/types/core-v1.ts";
import type { Quantity } from "../../../api/types/resource.ts";
import { validateChoice, validateText } from "../../../api/validation/field-rules.ts";
import { immutableText, validateImmutable } from "../../../api/validation/immutable.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import {
  parsedQuantity,
  validateQuantityNotNegative,
  validateQuantityPositive,
  validateQuantitySign,
} from "../../../api/validation/quantity.ts";
import { validateAccessModes } from "./access-modes.ts";

const volumeModes = ["Block", "Filesystem"];
const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const resizeStatuses = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizePending",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
].toSorted();

export function validateClaim({ spec = {} }: PersistentVolumeClaim): FieldError[] {
  return validateClaimSpec(spec, "spec");
}

/** Validates the spec of a claim, or of a template of claims at another path. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, field: string): FieldError[] {
  const { accessModes = [] } = spec;
  const modeErrors = validateAccessModes(accessModes, "at least 1 access mode is required", `${field}.accessModes`);
  const selectorErrors = validateLabelSelector(spec.selector, `${field}.selector`);
  return [
    ...(accessModes.length === 0 ? [...modeErrors, ...selectorErrors] : [...selectorErrors, ...modeErrors]),
    ...validateStorage(spec, `${field}.resources[storage]`),
    ...validateText(spec.storageClassName, dnsSubdomainProblems, `${field}.storageClassName`),
    ...validateChoice(spec.volumeMode, volumeModes, `${field}.volumeMode`),
    ...validateDataSources(spec, field),
    ...validateText(spec.volumeAttributesClassName, dnsSubdomainProblems, `${field}.volumeAttributesClassName`),
  ];
}

/** Rejects changes of the spec. A claim bound to a volume may ask for more of it, or for another class of attributes. */
export function validateClaimUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const { spec: fresh = {} } = claim;
  const { spec: stored = {} } = old;
  const errors = validateClassAnnotation(claim, old);
  if (!equalJson(comparable(fresh, claim, old), comparable(stored, claim, old))) {
    const text =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    errors.push(fieldError.forbidden("spec", text));
  }
  return [
    ...errors,
    ...validateNoShrinking(fresh, stored, old),
    ...validateImmutable(fresh.volumeMode, stored.volumeMode, "volumeMode"),
    ...validateAttributesClassUpdate(fresh.volumeAttributesClassName, old),
  ];
}

export function validateClaimStatus({ status = {} }: PersistentVolumeClaim): FieldError[] {
  const { capacity = {}, allocatedResources = {}, allocatedResourceStatuses = {} } = status;
  return [
    ...Object.entries(capacity).flatMap(([name, amount]) => validateQuantitySign(amount, `status.capacity[${name}]`)),
    ...Object.entries(allocatedResourceStatuses).flatMap(([name, state]) => {
      const errors = validateResourceKey(name, "status.allocatedResourceStatuses");
      if (resizeStatuses.includes(state)) return errors;
      return [...errors, fieldError.notSupported("status.allocatedResourceStatuses", name, resizeStatuses)];
    }),
    ...Object.entries(allocatedResources).flatMap(([name, amount]) => {
      const errors = validateResourceKey(name, "status.allocatedResources");
      if (errors.length > 0) return errors;
      const unsigned = validateQuantitySign(amount, `status.allocatedResources[${name}]`);
      return unsigned.length > 0 ? unsigned : validateQuantityNotNegative(amount, `status.allocatedResources[${name}]`);
    }),
  ];
}

function validateResourceKey(name: string, field: string): FieldError[] {
  const errors = labelKeyErrors(name).map((problem) => fieldError.invalid(field, name, problem));
  if (errors.length > 0) return errors;
  const isNative = !name.includes("/") || name.includes("kubernetes.io/");
  return isNative && name !== "storage" ? [fieldError.notSupported(field, name, ["storage"])] : [];
}

function storageOf({ resources }: PersistentVolumeClaimSpec): Quantity | undefined {
  return resources?.requests?.["storage"];
}

function validateStorage(spec: PersistentVolumeClaimSpec, field: string): FieldError[] {
  const storage = storageOf(spec);
  return storage === undefined ? [fieldError.required(field)] : validateQuantityPositive(storage, field);
}

/** Validates the source of the data. Both fields for it agree, unless the newer one names a namespace. */
function validateDataSources(
  { dataSource: older, dataSourceRef: newer }: PersistentVolumeClaimSpec,
  field: string,
): FieldError[] {
  const errors = [
    ...(older === undefined ? [] : validateDataSource(older, `${field}.dataSource`)),
    ...(newer === undefined ? [] : validateDataSource(newer, `${field}.dataSourceRef`)),
  ];
  if (older === undefined || newer === undefined) return errors;
  const { namespace = "", ...reference } = newer;
  // Upstream shows the path of the field instead of its value, and a path has no JSON.
  const refuse = (text: string) => [...errors, fieldError.invalid(field, {}, text)];
  if (namespace !== "") return refuse("may not be specified when dataSourceRef.namespace is specified");
  return equalJson(older, reference) ? errors : refuse("must match dataSourceRef");
}

function validateDataSource(source: TypedObjectReference, field: string): FieldError[] {
  const { apiGroup, kind, name, namespace } = source;
  const errors = name === "" ? [fieldError.required(`${field}.name`)] : [];
  if (kind === "") errors.push(fieldError.required(`${field}.kind`));
  if ((apiGroup ?? "") === "" && kind !== "PersistentVolumeClaim") {
    const text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(fieldError.invalid(field, kind, text));
  }
  return [
    ...errors,
    ...validateText(apiGroup, dnsSubdomainProblems, `${field}.apiGroup`),
    ...validateText(namespace, dnsLabelProblems, `${field}.namespace`),
  ];
}

/** Rejects another class in the annotation, which came before the field. The class may move to the field. */
function validateClassAnnotation(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  if (movesClassToField(claim, old)) return [];
  const [fresh, stored] = [claim, old].map(({ metadata }) => metadata.annotations?.[classAnnotation] ?? "");
  if (fresh === stored) return [];
  return [fieldError.invalid(`metadata.annotations[${classAnnotation}]`, fresh, immutableText)];
}

function movesClassToField(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const annotation = old.metadata.annotations?.[classAnnotation];
  const kept = claim.metadata.annotations?.[classAnnotation];
  return (
    annotation !== undefined &&
    old.spec?.storageClassName === undefined &&
    claim.spec?.storageClassName === annotation &&
    (kept === undefined || kept === annotation)
  );
}

/** Returns the new spec with the old values of everything that may change. */
function comparable(
  spec: PersistentVolumeClaimSpec,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): PersistentVolumeClaimSpec {
  const { spec: stored = {} } = old;
  const same = { ...spec };
  if ((stored.volumeName ?? "") === "") delete same.volumeName;
  if (stored.storageClassName === undefined && mayNameClass(claim, old)) delete same.storageClassName;
  if (claim.status?.phase === "Bound") {
    delete same.volumeAttributesClassName;
    same.resources = withStorage(spec, storageOf(stored));
  }
  return same;
}

function mayNameClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const annotation = old.metadata.annotations?.[classAnnotation];
  return annotation === undefined || claim.spec?.storageClassName === annotation;
}

function withStorage(
  { resources = {} }: PersistentVolumeClaimSpec,
  storage: Quantity | undefined,
): VolumeResourceRequirements {
  const { requests } = resources;
  if (requests === undefined) return resources;
  const { storage: _storage, ...others } = requests;
  return { ...resources, requests: storage === undefined ? others : { ...others, storage } };
}

/** Rejects a smaller request, except after a failed expansion, and then not below the current capacity. */
function validateNoShrinking(
  fresh: PersistentVolumeClaimSpec,
  stored: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaim,
): FieldError[] {
  const [size, before, actual] = [storageOf(fresh), storageOf(stored), old.status?.capacity?.["storage"]].map((text) =>
    parsedQuantity(text ?? "0"),
  );
  if (size === undefined || before === undefined || compareQuantities(size, before) >= 0) return [];
  if (actual !== undefined && compareQuantities(size, actual) > 0) return [];
  return [fieldError.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")];
}

/** Rejects a claim without a class of attributes once the volume has one. */
function validateAttributesClassUpdate(
  fresh: string | undefined,
  { spec, status }: PersistentVolumeClaim,
): FieldError[] {
  const isKept = fresh === spec?.volumeAttributesClassName;
  if (isKept || status?.currentVolumeAttributesClassName === undefined || (fresh ?? "") !== "") return [];
  const to = fresh === undefined ? "nil" : "empty string";
  const text = `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  return [fieldError.forbidden("spec.volumeAttributesClassName", text)];
}
