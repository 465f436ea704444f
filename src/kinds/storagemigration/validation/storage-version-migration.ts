import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  StorageVersionMigration,
  StorageVersionMigrationStatus,
} from "../../../api/types/storagemigration-v1beta1.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";

const conditionsField = "status.conditions";

export function validateStorageVersionMigration({ spec }: StorageVersionMigration): FieldError[] {
  const { resource = "" } = spec?.resource ?? {};
  return resource === "" ? [fieldError.required("spec.resource.resource", "resource is required")] : [];
}

export function validateStorageVersionMigrationUpdate(
  migration: StorageVersionMigration,
  old: StorageVersionMigration,
): FieldError[] {
  const [fresh, stored] = [migration.spec?.resource, old.spec?.resource];
  return (["group", "resource"] as const).flatMap((name) =>
    validateImmutable(fresh?.[name] ?? "", stored?.[name] ?? "", name),
  );
}

/** A migration runs up to a resourceVersion. It ends once, with success or failure. */
export function validateStorageVersionMigrationStatus(
  { status: fresh = {} }: StorageVersionMigration,
  old?: StorageVersionMigration,
): FieldError[] {
  const stored = old?.status ?? {};
  const [ends, ended] = [outcomeOf(fresh), outcomeOf(stored)];
  const refuse = (text: string) => fieldError.invalid(conditionsField, fresh.conditions, text);
  return [
    ...validateResourceVersion(fresh.resourceVersion ?? "", stored.resourceVersion ?? ""),
    ...validateConditions(fresh.conditions, conditionsField),
    ...(ends.succeeded && ends.failed
      ? [refuse("Both success and failed conditions cannot be true at the same time")]
      : []),
    ...(ends.succeeded && ends.running
      ? [refuse("Running condition cannot be true when success condition is true")]
      : []),
    ...(ends.failed && ends.running ? [refuse("Running condition cannot be true when failed condition is true")] : []),
    ...(ended.succeeded && !ends.succeeded ? [refuse("Success condition cannot be set to false once it is true")] : []),
    ...(ended.failed && !ends.failed ? [refuse("Failed condition cannot be set to false once it is true")] : []),
  ];
}

function validateResourceVersion(version: string, old: string): FieldError[] {
  const field = "status.resourceVersion";
  const isNumber = version === "" || /^[0-9]{1,19}$/.test(version);
  const text = `failed to parse resource version ${JSON.stringify(version)}: must be a non-negative integer`;
  const errors = isNumber ? [] : [fieldError.invalid(field, version, text)];
  return old === "" || old === version
    ? errors
    : [...errors, fieldError.invalid(field, version, "resourceVersion cannot be updated")];
}

interface Outcome {
  readonly succeeded: boolean;
  readonly failed: boolean;
  readonly running: boolean;
}

function outcomeOf({ conditions = [] }: StorageVersionMigrationStatus): Outcome {
  const isTrue = (wanted: string) => conditions.some(({ type, status }) => type === wanted && status === "True");
  return { succeeded: isTrue("Succeeded"), failed: isTrue("Failed"), running: isTrue("Running") };
}
