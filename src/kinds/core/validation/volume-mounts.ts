import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { isPresent, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { validateChoice } from "../../../api/validation/field-rules.ts";
import { hasBacksteps, validateDescendingPath } from "../../../api/validation/local-path.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** The valid volumes of a pod, by name. */
export type VolumesByName = ReadonlyMap<string, JsonObject>;

const propagations = ["Bidirectional", "HostToContainer", "None"];
const recursions = ["Disabled", "Enabled", "IfPossible"];

/** Volumes that a container sees as directories. */
export function validateVolumeMounts(container: JsonObject, volumes: VolumesByName, field: string): FieldError[] {
  if (!isPresent(container["volumeMounts"])) return [];
  const devices = placesOf(objectsOf(container["volumeDevices"]), "devicePath");
  const paths = new Set<string>();
  return validateEach(objectsOf(container["volumeMounts"]), (mount, at) => {
    const [name, path] = [textOf(mount["name"]), textOf(mount["mountPath"])];
    const item = `${field}[${at}]`;
    const errors: FieldError[] = [];
    if (name === "") errors.push(fieldError.required(`${item}.name`));
    if (!volumes.has(name)) errors.push(fieldError.notFound(`${item}.name`, name));
    if (path === "") errors.push(fieldError.required(`${item}.mountPath`));
    if (paths.has(path)) errors.push(fieldError.invalid(`${item}.mountPath`, path, "must be unique"));
    paths.add(path);
    if (devices.names.has(name)) {
      errors.push(fieldError.invalid(`${item}.name`, name, "must not already exist in volumeDevices"));
    }
    if (devices.paths.has(path)) {
      errors.push(fieldError.invalid(`${item}.mountPath`, path, "must not already exist as a path in volumeDevices"));
    }
    return [
      ...errors,
      ...validateSubPaths(mount, field, item),
      ...validatePropagation(mount, container, `${field}.mountPropagation`),
      ...validateRecursion(mount, `${field}.recursiveReadOnly`),
    ];
  });
}

/** Claims that a container sees as block devices. */
export function validateVolumeDevices(container: JsonObject, volumes: VolumesByName, field: string): FieldError[] {
  if (!isPresent(container["volumeDevices"])) return [];
  const mounts = placesOf(objectsOf(container["volumeMounts"]), "mountPath");
  const names = new Set<string>();
  const paths = new Set<string>();
  return validateEach(objectsOf(container["volumeDevices"]), (device, at) => {
    const [name, path] = [textOf(device["name"]), textOf(device["devicePath"])];
    const [nameField, pathField] = [`${field}[${at}].name`, `${field}[${at}].devicePath`];
    const errors: FieldError[] = [];
    if (name === "") errors.push(fieldError.required(nameField));
    if (names.has(name)) errors.push(fieldError.invalid(nameField, name, "must be unique"));
    errors.push(...validateBlockSource(name, volumes, nameField));
    if (path === "") errors.push(fieldError.required(pathField));
    if (paths.has(path)) errors.push(fieldError.invalid(pathField, path, "must be unique"));
    if (hasBacksteps(path)) errors.push(fieldError.invalid(pathField, path, "can not contain backsteps ('..')"));
    else paths.add(path);
    if (mounts.names.has(name)) {
      errors.push(fieldError.invalid(nameField, name, "must not already exist in volumeMounts"));
    }
    if (mounts.paths.has(path)) {
      errors.push(fieldError.invalid(pathField, path, "must not already exist as a path in volumeMounts"));
    }
    if (name !== "") names.add(name);
    return errors;
  });
}

function placesOf(places: readonly JsonObject[], path: string): { names: Set<string>; paths: Set<string> } {
  return {
    names: new Set(places.map((place) => textOf(place["name"]))),
    paths: new Set(places.map((place) => textOf(place[path]))),
  };
}

/** Paths below a volume; upstream names the list in these errors, not its item. */
function validateSubPaths(mount: JsonObject, field: string, item: string): FieldError[] {
  const [path, expression] = [textOf(mount["subPath"]), textOf(mount["subPathExpr"])];
  const errors = path === "" ? [] : validateDescendingPath(path, `${field}.subPath`);
  if (expression === "") return errors;
  if (path !== "") {
    const text = "subPathExpr and subPath are mutually exclusive";
    errors.push(fieldError.invalid(`${item}.subPathExpr`, expression, text));
  }
  return [...errors, ...validateDescendingPath(expression, `${field}.subPathExpr`)];
}

function validatePropagation(mount: JsonObject, container: JsonObject, field: string): FieldError[] {
  const propagation = mount["mountPropagation"];
  if (!isPresent(propagation)) return [];
  const errors = validateChoice(propagation, propagations, field);
  if (propagation === "Bidirectional" && objectOf(container["securityContext"])["privileged"] !== true) {
    const text = "Bidirectional mount propagation is available only to privileged containers";
    errors.push(fieldError.forbidden(field, text));
  }
  return errors;
}

function validateRecursion(mount: JsonObject, field: string): FieldError[] {
  const mode = mount["recursiveReadOnly"];
  if (!isPresent(mode) || mode === "Disabled") return [];
  if (!recursions.includes(textOf(mode))) return [fieldError.notSupported(field, mode, recursions)];
  const errors: FieldError[] = [];
  if (mount["readOnly"] !== true) {
    errors.push(fieldError.forbidden(field, "may only be specified when readOnly is true"));
  }
  if (isPresent(mount["mountPropagation"]) && mount["mountPropagation"] !== "None") {
    const text = "may only be specified when mountPropagation is None or not specified";
    errors.push(fieldError.forbidden(field, text));
  }
  return errors;
}

function validateBlockSource(name: string, volumes: VolumesByName, field: string): FieldError[] {
  const volume = volumes.get(name);
  if (volume === undefined) return [fieldError.notFound(field, name)];
  if (isPresent(volume["persistentVolumeClaim"]) || isPresent(volume["ephemeral"])) return [];
  const text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
  return [fieldError.invalid(field, name, text)];
}
