import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateAccessModes } from "./access-modes.ts";
import { immutableText, validateImmutable } from "../../../api/validation/immutable.ts";
import { isPresent, objectOf, textOf } from "../../../api/json-reading.ts";
import { validateChoice, validateText } from "../../../api/validation/field-rules.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateNodeSelector } from "./node-selector.ts";
import { persistentSourceNames, validatePersistentSource } from "./persistent-volume-source.ts";
import { validateQuantityPositive } from "../../../api/validation/quantity.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const reclaimPolicies = ["Delete", "Recycle", "Retain"];
const volumeModes = ["Block", "Filesystem"];

export function validatePersistentVolume(volume: KubeObject): FieldError[] {
  const spec = objectOf(volume["spec"]);
  const { nodeAffinity } = spec;
  return [
    ...validateAccessModes(spec["accessModes"], "", "spec.accessModes"),
    ...validateCapacity(spec["capacity"] === undefined ? {} : objectOf(spec["capacity"]), "spec.capacity"),
    ...validateChoice(spec["persistentVolumeReclaimPolicy"], reclaimPolicies, "spec.persistentVolumeReclaimPolicy"),
    ...(isPresent(nodeAffinity) ? validateNodeAffinity(objectOf(nodeAffinity), "spec.nodeAffinity") : []),
    ...validatePersistentSource(spec, "spec"),
    ...validateRecycling(spec),
    ...validateText(spec["storageClassName"], dnsSubdomainProblems, "spec.storageClassName"),
    ...validateChoice(spec["volumeMode"], volumeModes, "spec.volumeMode"),
    ...validateAttributesClass(spec, "spec"),
  ];
}

/** The spec of a volume that only an attachment knows: of a CSI driver, and without a life of its own. */
export function validateInlineVolume(spec: JsonObject, field: string): FieldError[] {
  const text = "may not be specified in the context of inline volumes";
  const filesystem = "may not specify volumeMode other than Filesystem in the context of inline volumes";
  const forbid = (name: string, why = text) => fieldError.forbidden(`${field}.${name}`, why);
  const errors = isPresent(spec["claimRef"]) ? [forbid("claimRef")] : [];
  if (Object.keys(objectOf(spec["capacity"])).length > 0) errors.push(forbid("capacity"));
  if (!isPresent(spec["csi"])) {
    errors.push(fieldError.required(`${field}.csi`, "has to be specified in the context of inline volumes"));
  }
  errors.push(...validateAccessModes(spec["accessModes"], "", `${field}.accessModes`));
  const policy = textOf(spec["persistentVolumeReclaimPolicy"]);
  if (policy !== "" && policy !== "Retain") {
    errors.push(forbid("persistentVolumeReclaimPolicy", "may only be Retain in the context of inline volumes"));
  }
  if (isPresent(spec["nodeAffinity"])) errors.push(forbid("nodeAffinity"));
  errors.push(...validatePersistentSource(spec, field));
  if (textOf(spec["storageClassName"]) !== "") errors.push(forbid("storageClassName"));
  const mode = spec["volumeMode"];
  if (isPresent(mode) && mode !== "Filesystem") errors.push(forbid("volumeMode", filesystem));
  return [...errors, ...validateAttributesClass(spec, field)];
}

/** Where the data lies never changes; which nodes reach it is said once. */
export function validatePersistentVolumeUpdate(volume: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [objectOf(volume["spec"]), objectOf(old["spec"])];
  const errors = equalJson(sourceOf(fresh, stored), sourceOf(stored, stored))
    ? []
    : [fieldError.forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")];
  errors.push(...validateImmutable(fresh["volumeMode"], stored["volumeMode"], "volumeMode"));
  if (isPresent(stored["nodeAffinity"]) && !equalJson(fresh["nodeAffinity"], stored["nodeAffinity"])) {
    const text = `${immutableText}, except for updating from beta label to GA`;
    errors.push(fieldError.invalid("nodeAffinity", fresh["nodeAffinity"], text));
  }
  if (isPresent(stored["volumeAttributesClassName"]) && !isPresent(fresh["volumeAttributesClassName"])) {
    const text = "update from non-nil value to nil is forbidden";
    errors.push(fieldError.forbidden("spec.volumeAttributesClassName", text));
  }
  return errors;
}

/** The sources of a spec, without the one part that may be added later. */
function sourceOf(spec: JsonObject, stored: JsonObject): JsonObject {
  const source = Object.fromEntries(Object.entries(spec).filter(([name]) => persistentSourceNames.has(name)));
  const csi = objectOf(source["csi"]);
  const isAdded = isPresent(stored["csi"]) && !isPresent(objectOf(stored["csi"])["controllerExpandSecretRef"]);
  if (!isAdded || !isPresent(csi["controllerExpandSecretRef"])) return source;
  const { controllerExpandSecretRef: _added, ...rest } = csi;
  return { ...source, csi: rest };
}

function validateCapacity(capacity: JsonObject, field: string): FieldError[] {
  const names = Object.keys(capacity);
  const errors = names.length === 0 ? [fieldError.required(field)] : [];
  if (names.length !== 1 || names[0] !== "storage") {
    errors.push(fieldError.notSupported(field, names.length === 0 ? null : capacity, ["storage"]));
  }
  return [...errors, ...validateEach(names, (name) => validateQuantityPositive(capacity[name], `${field}[${name}]`))];
}

function validateNodeAffinity({ required }: JsonObject, field: string): FieldError[] {
  if (isPresent(required)) return validateNodeSelector(required, `${field}.required`);
  return [fieldError.required(`${field}.required`, "must specify required node constraints")];
}

/** Recycling the root of a host would empty the host. */
function validateRecycling(spec: JsonObject): FieldError[] {
  const path = textOf(objectOf(spec["hostPath"])["path"]);
  const isRoot = path.startsWith("/") && path.split("/").every((part) => part === "" || part === ".");
  if (!isRoot || spec["persistentVolumeReclaimPolicy"] !== "Recycle") return [];
  const text = "may not be 'recycle' for a hostPath mount of '/'";
  return [fieldError.forbidden("spec.persistentVolumeReclaimPolicy", text)];
}

function validateAttributesClass(spec: JsonObject, field: string): FieldError[] {
  const name = spec["volumeAttributesClassName"];
  if (!isPresent(name)) return [];
  const path = `${field}.volumeAttributesClassName`;
  const errors =
    name === ""
      ? [fieldError.required(path, "an empty string is disallowed")]
      : validateText(name, dnsSubdomainProblems, path);
  if (isPresent(spec["csi"])) return errors;
  return [...errors, fieldError.required(`${field}.csi`, "has to be specified when using volumeAttributesClassName")];
}
