import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type { PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity } from "../../../api/types/core-v1.ts";
import { validateChoice, validateText } from "../../../api/validation/field-rules.ts";
import { immutableText, validateImmutable } from "../../../api/validation/immutable.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateQuantityPositive, validateQuantitySign } from "../../../api/validation/quantity.ts";
import { validateManyInTurns } from "../../../api/validation/validate-each.ts";
import { validateAccessModes } from "./access-modes.ts";
import { validateNodeSelector } from "./node-selector.ts";
import { persistentSourceNames, validatePersistentSource } from "./persistent-volume-source.ts";

const reclaimPolicies = ["Delete", "Recycle", "Retain"];
const volumeModes = ["Block", "Filesystem"];

export function* validatePersistentVolume({ spec = {} }: PersistentVolume): Generator<void, FieldError[]> {
  const { accessModes = [], nodeAffinity } = spec;
  return [
    ...validateAccessModes(accessModes, "", "spec.accessModes"),
    ...(yield* validateCapacity(spec, "spec.capacity")),
    ...validateChoice(spec.persistentVolumeReclaimPolicy, reclaimPolicies, "spec.persistentVolumeReclaimPolicy"),
    ...(nodeAffinity === undefined ? [] : validateNodeAffinity(nodeAffinity, "spec.nodeAffinity")),
    ...validatePersistentSource(spec, "spec"),
    ...validateRecycling(spec),
    ...validateText(spec.storageClassName, dnsSubdomainProblems, "spec.storageClassName"),
    ...validateChoice(spec.volumeMode, volumeModes, "spec.volumeMode"),
    ...validateAttributesClass(spec, "spec"),
  ];
}

/** Validates the spec of a volume inside an attachment, which is from a CSI driver and not an object. */
export function validateInlineVolume(spec: PersistentVolumeSpec, field: string): FieldError[] {
  const text = "may not be specified in the context of inline volumes";
  const filesystem = "may not specify volumeMode other than Filesystem in the context of inline volumes";
  const forbid = (name: keyof PersistentVolumeSpec, why = text) => fieldError.forbidden(`${field}.${name}`, why);
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = "", volumeMode = "Filesystem" } = spec;
  const errors = spec.claimRef === undefined ? [] : [forbid("claimRef")];
  if (Object.keys(spec.capacity ?? {}).length > 0) errors.push(forbid("capacity"));
  if (spec.csi === undefined) {
    errors.push(fieldError.required(`${field}.csi`, "has to be specified in the context of inline volumes"));
  }
  errors.push(...validateAccessModes(accessModes, "", `${field}.accessModes`));
  if (policy !== "" && policy !== "Retain") {
    errors.push(forbid("persistentVolumeReclaimPolicy", "may only be Retain in the context of inline volumes"));
  }
  if (spec.nodeAffinity !== undefined) errors.push(forbid("nodeAffinity"));
  errors.push(...validatePersistentSource(spec, field));
  if ((spec.storageClassName ?? "") !== "") errors.push(forbid("storageClassName"));
  if (volumeMode !== "Filesystem") errors.push(forbid("volumeMode", filesystem));
  return errors;
}

/** Rejects changes of the source, and of the nodes that reach it once they are set. */
export function validatePersistentVolumeUpdate(volume: PersistentVolume, old: PersistentVolume): FieldError[] {
  const { spec: fresh = {} } = volume;
  const { spec: stored = {} } = old;
  const errors = equalJson(sourceOf(fresh, stored), sourceOf(stored, stored))
    ? []
    : [fieldError.forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")];
  errors.push(...validateImmutable(fresh.volumeMode, stored.volumeMode, "volumeMode"));
  if (stored.nodeAffinity !== undefined && !equalJson(fresh.nodeAffinity, stored.nodeAffinity)) {
    const text = `${immutableText}, except for updating from beta label to GA`;
    errors.push(fieldError.invalid("nodeAffinity", fresh.nodeAffinity, text));
  }
  if (stored.volumeAttributesClassName !== undefined && fresh.volumeAttributesClassName === undefined) {
    const text = "update from non-nil value to nil is forbidden";
    errors.push(fieldError.forbidden("spec.volumeAttributesClassName", text));
  }
  return errors;
}

/** Returns the sources of a spec without the part that may be added later. */
function sourceOf(spec: PersistentVolumeSpec, stored: PersistentVolumeSpec): PersistentVolumeSpec {
  const source: PersistentVolumeSpec = Object.fromEntries(
    Object.entries(spec).filter(([name]) => persistentSourceNames.has(name)),
  );
  const { csi } = source;
  const isAdded = stored.csi !== undefined && stored.csi.controllerExpandSecretRef === undefined;
  if (!isAdded || csi?.controllerExpandSecretRef === undefined) return source;
  const { controllerExpandSecretRef: _added, ...rest } = csi;
  return { ...source, csi: rest };
}

function* validateCapacity(spec: PersistentVolumeSpec, field: string): Generator<void, FieldError[]> {
  const { capacity = {} } = spec;
  const names = Object.keys(capacity);
  const errors = names.length === 0 ? [fieldError.required(field)] : [];
  if (names.length !== 1 || names[0] !== "storage") {
    const isUnset = names.length === 0 && !isGivenEmpty(spec, "capacity");
    errors.push(fieldError.notSupported(field, isUnset ? null : capacity, ["storage"]));
  }
  const ofOne = (name: string) => [
    ...validateQuantitySign(capacity[name], `${field}[${name}]`),
    ...validateQuantityPositive(capacity[name], `${field}[${name}]`),
  ];
  return [...errors, ...(yield* validateManyInTurns(names, ofOne))];
}

function validateNodeAffinity({ required }: VolumeNodeAffinity, field: string): FieldError[] {
  if (required !== undefined) return validateNodeSelector(required, `${field}.required`);
  return [fieldError.required(`${field}.required`, "must specify required node constraints")];
}

/** Rejects recycling the root of a host, which would empty the host. */
function validateRecycling({ hostPath, persistentVolumeReclaimPolicy }: PersistentVolumeSpec): FieldError[] {
  const { path } = hostPath ?? { path: "" };
  const isRoot = path.startsWith("/") && path.split("/").every((part) => part === "" || part === ".");
  if (!isRoot || persistentVolumeReclaimPolicy !== "Recycle") return [];
  const text = "may not be 'recycle' for a hostPath mount of '/'";
  return [fieldError.forbidden("spec.persistentVolumeReclaimPolicy", text)];
}

function validateAttributesClass(spec: PersistentVolumeSpec, field: string): FieldError[] {
  const { volumeAttributesClassName: name } = spec;
  if (name === undefined) return [];
  const path = `${field}.volumeAttributesClassName`;
  const errors =
    name === ""
      ? [fieldError.required(path, "an empty string is disallowed")]
      : validateText(name, dnsSubdomainProblems, path);
  if (spec.csi !== undefined) return errors;
  return [...errors, fieldError.required(`${field}.csi`, "has to be specified when using volumeAttributesClassName")];
}
