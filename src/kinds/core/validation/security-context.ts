import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { AppArmorProfile, SeccompProfile, SecurityContext } from "../../../api/types/core-v1.ts";
import { validateRange } from "../../../api/validation/field-rules.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { validateDescendingPath } from "../../../api/validation/local-path.ts";
import { validateWindowsOptions } from "./windows-options.ts";

const idRange = { min: 0, max: 2_147_483_647 };
const procMounts = ["Default", "Unmasked"];
const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];
/** PATH_MAX without its final zero. */
const appArmorProfileBytesMax = 4095;

/** Validates the security settings of one container. */
export function validateSecurityContext(
  context: SecurityContext | undefined,
  { hostUsers }: { hostUsers: boolean },
  field: string,
): FieldError[] {
  if (context === undefined) return [];
  return [
    ...validateId(context.runAsUser, `${field}.runAsUser`),
    ...validateId(context.runAsGroup, `${field}.runAsGroup`),
    ...validateProcMount(context.procMount, hostUsers, `${field}.procMount`),
    ...validateSeccompProfile(context.seccompProfile, `${field}.seccompProfile`),
    ...validateEscalation(context, field),
    ...validateWindowsOptions(context.windowsOptions, `${field}.windowsOptions`),
    ...validateAppArmorProfile(context.appArmorProfile, `${field}.appArmorProfile`),
  ];
}

/** Validates the number of a user or a group. */
export function validateId(id: number | bigint | undefined, field: string): FieldError[] {
  return validateRange(id, idRange, field);
}

export function validateSeccompProfile(profile: SeccompProfile | undefined, field: string): FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile: path } = profile;
  const pathField = `${field}.localhostProfile`;
  const errors = validateProfileType(type, `${field}.type`, "type is required when seccompProfile is set");
  if (type !== "Localhost") {
    const text = "can only be set when seccomp type is Localhost";
    return path === undefined
      ? errors
      : [...errors, fieldError.invalid(pathField, internalForm(profile, "core/v1.SeccompProfile"), text)];
  }
  return path === undefined
    ? [...errors, fieldError.required(pathField, "must be set when seccomp type is Localhost")]
    : [...errors, ...validateDescendingPath(path, pathField)];
}

export function validateAppArmorProfile(profile: AppArmorProfile | undefined, field: string): FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile: path } = profile;
  if (type === "Localhost") return validateAppArmorPath(path ?? "", `${field}.localhostProfile`);
  const errors = validateProfileType(type, `${field}.type`, "type is required when appArmorProfile is set");
  if (errors.length > 0 || path === undefined) return errors;
  return [fieldError.invalid(`${field}.localhostProfile`, path, "can only be set when AppArmor type is Localhost")];
}

function validateAppArmorPath(text: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (text !== text.trim()) errors.push(fieldError.invalid(field, text, "must not be padded with whitespace"));
  else if (text === "") errors.push(fieldError.required(field, "must be set when AppArmor type is Localhost"));
  if (Buffer.byteLength(text) > appArmorProfileBytesMax) {
    errors.push(fieldError.tooLong(field, appArmorProfileBytesMax));
  }
  return errors;
}

function validateProfileType(type: string, field: string, requiredText: string): FieldError[] {
  if (type === "") return [fieldError.required(field, requiredText)];
  return profileTypes.includes(type) ? [] : [fieldError.notSupported(field, type, profileTypes)];
}

function validateProcMount(value: string | undefined, hostUsers: boolean, field: string): FieldError[] {
  if (value === undefined) return [];
  const errors = procMounts.includes(value) ? [] : [fieldError.notSupported(field, value, procMounts)];
  if (hostUsers && value === "Unmasked") {
    errors.push(fieldError.invalid(field, value, "`hostUsers` must be false to use `Unmasked`"));
  }
  return errors;
}

/** Rejects keeping a process from privileges that it has already. */
function validateEscalation(context: SecurityContext, field: string): FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return [];
  const errors: FieldError[] = [];
  if (context.privileged === true) {
    const text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
    errors.push(fieldError.invalid(field, internalForm(context, "core/v1.SecurityContext"), text));
  }
  if (context.capabilities?.add?.includes("CAP_SYS_ADMIN") === true) {
    const text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
    errors.push(fieldError.invalid(field, internalForm(context, "core/v1.SecurityContext"), text));
  }
  return errors;
}
