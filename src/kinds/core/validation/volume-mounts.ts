import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { Volume, VolumeMount } from "../../../api/types/core-v1.ts";
import { validateChoice } from "../../../api/validation/field-rules.ts";
import { hasBacksteps, validateDescendingPath } from "../../../api/validation/local-path.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import type { AnyContainer } from "./placed-container.ts";

/** The valid volumes of a pod, by name. */
export type VolumesByName = ReadonlyMap<string, Volume>;

const propagations = ["Bidirectional", "HostToContainer", "None"];
const recursions = ["Disabled", "Enabled", "IfPossible"];

/** Validates the volumes that a container sees as directories. */
export function validateVolumeMounts(container: AnyContainer, volumes: VolumesByName, field: string): FieldError[] {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const deviceNames = new Set(volumeDevices.map(({ name }) => name));
  const devicePaths = new Set(volumeDevices.map(({ devicePath }) => devicePath));
  const paths = new Set<string>();
  return validateEach(volumeMounts, (mount, at) => {
    const { name, mountPath: path } = mount;
    const item = `${field}[${at}]`;
    const errors: FieldError[] = [];
    if (name === "") errors.push(fieldError.required(`${item}.name`));
    if (!volumes.has(name)) errors.push(fieldError.notFound(`${item}.name`, name));
    if (path === "") errors.push(fieldError.required(`${item}.mountPath`));
    if (paths.has(path)) errors.push(fieldError.invalid(`${item}.mountPath`, path, "must be unique"));
    paths.add(path);
    if (deviceNames.has(name)) {
      errors.push(fieldError.invalid(`${item}.name`, name, "must not already exist in volumeDevices"));
    }
    if (devicePaths.has(path)) {
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

/** Validates the claims that a container sees as block devices. */
export function validateVolumeDevices(container: AnyContainer, volumes: VolumesByName, field: string): FieldError[] {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const mountNames = new Set(volumeMounts.map(({ name }) => name));
  const mountPaths = new Set(volumeMounts.map(({ mountPath }) => mountPath));
  const names = new Set<string>();
  const paths = new Set<string>();
  return validateEach(volumeDevices, ({ name, devicePath: path }, at) => {
    const [nameField, pathField] = [`${field}[${at}].name`, `${field}[${at}].devicePath`];
    const errors: FieldError[] = [];
    if (name === "") errors.push(fieldError.required(nameField));
    if (names.has(name)) errors.push(fieldError.invalid(nameField, name, "must be unique"));
    errors.push(...validateBlockSource(name, volumes, nameField));
    if (path === "") errors.push(fieldError.required(pathField));
    if (paths.has(path)) errors.push(fieldError.invalid(pathField, path, "must be unique"));
    if (hasBacksteps(path)) errors.push(fieldError.invalid(pathField, path, "can not contain backsteps ('..')"));
    else paths.add(path);
    if (mountNames.has(name)) {
      errors.push(fieldError.invalid(nameField, name, "must not already exist in volumeMounts"));
    }
    if (mountPaths.has(path)) {
      errors.push(fieldError.invalid(pathField, path, "must not already exist as a path in volumeMounts"));
    }
    if (name !== "") names.add(name);
    return errors;
  });
}

/** Validates paths below a volume. Upstream names the list in these errors, not its item. */
function validateSubPaths(mount: VolumeMount, field: string, item: string): FieldError[] {
  const { subPath: path = "", subPathExpr: expression = "" } = mount;
  const errors = path === "" ? [] : validateDescendingPath(path, `${field}.subPath`);
  if (expression === "") return errors;
  if (path !== "") {
    const text = "subPathExpr and subPath are mutually exclusive";
    errors.push(fieldError.invalid(`${item}.subPathExpr`, expression, text));
  }
  return [...errors, ...validateDescendingPath(expression, `${field}.subPathExpr`)];
}

function validatePropagation(
  { mountPropagation: propagation }: VolumeMount,
  { securityContext }: AnyContainer,
  field: string,
): FieldError[] {
  if (propagation === undefined) return [];
  const errors = validateChoice(propagation, propagations, field);
  if (propagation === "Bidirectional" && securityContext?.privileged !== true) {
    const text = "Bidirectional mount propagation is available only to privileged containers";
    errors.push(fieldError.forbidden(field, text));
  }
  return errors;
}

function validateRecursion(mount: VolumeMount, field: string): FieldError[] {
  const { recursiveReadOnly: mode = "Disabled", mountPropagation: propagation = "None", readOnly } = mount;
  if (mode === "Disabled") return [];
  if (!recursions.includes(mode)) return [fieldError.notSupported(field, mode, recursions)];
  const errors: FieldError[] = [];
  if (readOnly !== true) {
    errors.push(fieldError.forbidden(field, "may only be specified when readOnly is true"));
  }
  if (propagation !== "None") {
    const text = "may only be specified when mountPropagation is None or not specified";
    errors.push(fieldError.forbidden(field, text));
  }
  return errors;
}

function validateBlockSource(name: string, volumes: VolumesByName, field: string): FieldError[] {
  const volume = volumes.get(name);
  if (volume === undefined) return [fieldError.notFound(field, name)];
  if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return [];
  const text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
  return [fieldError.invalid(field, name, text)];
}
