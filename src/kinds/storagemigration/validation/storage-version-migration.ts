import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";

const conditionsField = "status.conditions";

export function validateStorageVersionMigration(migration: KubeObject): FieldError[] {
  const { resource } = objectOf(objectOf(migration["spec"])["resource"]);
  return textOf(resource) === "" ? [fieldError.required("spec.resource.resource", "resource is required")] : [];
}

export function validateStorageVersionMigrationUpdate(migration: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [migration, old].map((object) => objectOf(objectOf(object["spec"])["resource"]));
  return ["group", "resource"].flatMap((name) =>
    validateImmutable(textOf(fresh?.[name]), textOf(stored?.[name]), name),
  );
}

/** A migration runs up to a resourceVersion, and ends once: well or not. */
export function validateStorageVersionMigrationStatus(migration: KubeObject, old?: KubeObject): FieldError[] {
  const [fresh, stored] = [objectOf(migration["status"]), objectOf(old?.["status"])];
  const [ends, ended] = [outcomeOf(fresh), outcomeOf(stored)];
  const refuse = (text: string) => fieldError.invalid(conditionsField, fresh["conditions"], text);
  return [
    ...validateResourceVersion(textOf(fresh["resourceVersion"]), textOf(stored["resourceVersion"])),
    ...validateConditions(fresh["conditions"], conditionsField),
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

function outcomeOf({ conditions }: JsonObject): { succeeded: boolean; failed: boolean; running: boolean } {
  const isTrue = (type: string) =>
    objectsOf(conditions).some((condition) => condition["type"] === type && condition["status"] === "True");
  return { succeeded: isTrue("Succeeded"), failed: isTrue("Failed"), running: isTrue("Running") };
}
