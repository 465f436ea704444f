import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { objectsOf, textOf, textsOf, validateNotNegative } from "../../../api/validation/fields.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const nodeIdBytesMax = 256;

export function validateCsiNode(node: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [at, driver] of driversOf(node).entries()) {
    if (errors.length >= fieldErrorsMax) break;
    errors.push(...validateDriver(driver, names, `spec.drivers[${at}]`));
  }
  return errors;
}

/** A driver that is registered stays as it is, but for the number of volumes that it can take. */
export function validateCsiNodeUpdate(node: KubeObject, old: KubeObject): FieldError[] {
  const stored = new Map(driversOf(old).map((driver) => [textOf(driver["name"]), driver]));
  return validateEach(driversOf(node), (driver) => {
    const known = stored.get(textOf(driver["name"]));
    if (known === undefined) return [];
    return validateImmutable(withoutAllocatable(driver), withoutAllocatable(known), "spec.drivers");
  });
}

function driversOf(node: KubeObject): JsonObject[] {
  return objectsOf(fieldsOf(node["spec"])["drivers"]);
}

function withoutAllocatable({ allocatable: _allocatable, ...driver }: JsonObject): JsonObject {
  return driver;
}

function validateDriver(driver: JsonObject, names: Set<string>, field: string): FieldError[] {
  const name = textOf(driver["name"]);
  const id = textOf(driver["nodeID"]);
  const errors = validateCsiDriverName(name, `${field}.name`);
  if (id === "") errors.push(fieldError.required(`${field}.nodeID`));
  if (Buffer.byteLength(id) > nodeIdBytesMax) {
    errors.push(fieldError.invalid(`${field}.nodeID`, id, `must be ${nodeIdBytesMax} characters or less`));
  }
  errors.push(...validateNotNegative(fieldsOf(driver["allocatable"])["count"], `${field}.allocatable.count`));
  if (names.has(name)) errors.push(fieldError.duplicate(`${field}.name`, name));
  names.add(name);
  return [...errors, ...validateTopologyKeys(textsOf(driver["topologyKeys"]), field)];
}

function validateTopologyKeys(keys: readonly string[], field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(keys, (key) => {
    const errors = key === "" ? [fieldError.required(field)] : [];
    if (seen.has(key)) errors.push(fieldError.duplicate(field, key));
    seen.add(key);
    return [...errors, ...labelKeyErrors(key).map((problem) => fieldError.invalid(field, key, problem))];
  });
}
