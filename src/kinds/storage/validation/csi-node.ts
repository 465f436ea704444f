import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type * as storageV1 from "../../../api/types/storage-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

const nodeIdBytesMax = 256;

export function validateCsiNode({ spec }: storageV1.CSINode): FieldError[] {
  const names = new Set<string>();
  return validateEach(spec.drivers ?? [], (driver, at) => validateDriver(driver, names, `spec.drivers[${at}]`));
}

/** A registered driver cannot change, except for the number of volumes that it can take. */
export function validateCsiNodeUpdate(node: storageV1.CSINode, old: storageV1.CSINode): FieldError[] {
  const drivers = Map.groupBy(node.spec.drivers ?? [], ({ name }) => name);
  return validateEach(old.spec.drivers ?? [], (known) =>
    validateEach(drivers.get(known.name) ?? [], (driver) =>
      validateImmutable(
        withoutAllocatable(driver),
        withoutAllocatable(known),
        "spec.drivers",
        "storage/v1.CSINodeDriver",
      ),
    ),
  );
}

function withoutAllocatable({
  allocatable: _allocatable,
  ...driver
}: storageV1.CSINodeDriver): storageV1.CSINodeDriver {
  return driver;
}

function validateDriver(driver: storageV1.CSINodeDriver, names: Set<string>, field: string): FieldError[] {
  const { name, nodeID: id } = driver;
  const errors = validateCsiDriverName(name, `${field}.name`);
  if (id === "") errors.push(fieldError.required(`${field}.nodeID`));
  if (Buffer.byteLength(id) > nodeIdBytesMax) {
    errors.push(fieldError.invalid(`${field}.nodeID`, id, `must be ${nodeIdBytesMax} characters or less`));
  }
  errors.push(...validateNotNegative(driver.allocatable?.count, `${field}.allocatable.count`));
  if (names.has(name)) errors.push(fieldError.duplicate(`${field}.name`, name));
  names.add(name);
  return [...errors, ...validateTopologyKeys(driver.topologyKeys ?? [], field)];
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
