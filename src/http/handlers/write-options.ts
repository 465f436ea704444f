import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonObject } from "../../api/json.ts";
import { status } from "../../api/status.ts";
import { validateFieldManager } from "../../api/validation/field-manager.ts";
import type { PatchType } from "../../apply/patch/patch-type.ts";
import { dryRunErrors } from "../../registry/delete-options.ts";
import { type Query, queryFlag, queryValue } from "../../request/request-info.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** Query parameters of create, update and patch, validated. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Whether an apply takes over fields of other managers. */
  readonly force: boolean;
  /** The fields of the options object that the client set. */
  readonly given: JsonObject;
}

/** Reads the options of PATCH, with the rules that depend on the type of the patch. */
export function parsePatchOptions(query: Query, type: PatchType): WriteOptions {
  return parseWriteOptions(query, "PatchOptions", patchErrors(query, type));
}

function patchErrors(query: Query, type: PatchType): FieldError[] {
  if (type !== "apply") {
    return query.has("force") ? [fieldError.forbidden("force", "may not be specified for non-apply patch")] : [];
  }
  return queryValue(query, "fieldManager") === ""
    ? [fieldError.required("fieldManager", "is required for apply patch")]
    : [];
}

/** @throws StatusError 422 naming `kind` (CreateOptions, UpdateOptions, PatchOptions) */
export function parseWriteOptions(
  query: Query,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  ruled: readonly FieldError[] = [],
): WriteOptions {
  const fieldManager = queryValue(query, "fieldManager");
  const fieldValidation = queryValue(query, "fieldValidation");
  const errors = [
    ...ruled,
    ...validateFieldManager(fieldManager, "fieldManager"),
    ...dryRunErrors(query.get("dryRun") ?? []),
    ...fieldValidationErrors(fieldValidation),
  ];
  if (errors.length > 0) throw status.invalidOptions(kind, errors);
  return {
    dryRun: query.get("dryRun")?.includes("All") ?? false,
    fieldManager,
    fieldValidation: fieldValidation === "" ? "Warn" : (fieldValidation as FieldValidation),
    force: queryFlag(query, "force"),
    given: givenOptions(query),
  };
}

function givenOptions(query: Query): JsonObject {
  const dryRun = (query.get("dryRun") ?? []).filter((value) => value !== "");
  const given: JsonObject = dryRun.length === 0 ? {} : { dryRun };
  for (const name of ["fieldManager", "fieldValidation"]) {
    const value = queryValue(query, name);
    if (value !== "") given[name] = value;
  }
  return given;
}

function fieldValidationErrors(value: string): FieldError[] {
  const supported = ["", "Ignore", "Strict", "Warn"];
  return supported.includes(value) ? [] : [fieldError.notSupported("fieldValidation", value, supported)];
}
