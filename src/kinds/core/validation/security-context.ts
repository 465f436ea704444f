import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { isPresent, objectOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { validateRange } from "../../../api/validation/field-rules.ts";
import { validateDescendingPath } from "../../../api/validation/local-path.ts";
import { validateWindowsOptions } from "./windows-options.ts";

const idRange = { min: 0, max: 2_147_483_647 };
const procMounts = ["Default", "Unmasked"];
const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];
/** PATH_MAX without its final zero. */
const appArmorProfileBytesMax = 4095;

/** The security settings of one container. */
export function validateSecurityContext(
  value: JsonValue | undefined,
  { hostUsers }: { hostUsers: boolean },
  field: string,
): FieldError[] {
  if (!isPresent(value)) return [];
  const context = objectOf(value);
  return [
    ...["runAsUser", "runAsGroup"].flatMap((name) => validateId(context[name], `${field}.${name}`)),
    ...validateProcMount(context["procMount"], hostUsers, `${field}.procMount`),
    ...validateSeccompProfile(context["seccompProfile"], `${field}.seccompProfile`),
    ...validateEscalation(context, field),
    ...validateWindowsOptions(context["windowsOptions"], `${field}.windowsOptions`),
    ...validateAppArmorProfile(context["appArmorProfile"], `${field}.appArmorProfile`),
  ];
}

/** The number of a user or a group. */
export function validateId(value: JsonValue | undefined, field: string): FieldError[] {
  return validateRange(value, idRange, field);
}

export function validateSeccompProfile(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const profile = objectOf(value);
  const [type, path] = [textOf(profile["type"]), profile["localhostProfile"]];
  const pathField = `${field}.localhostProfile`;
  const errors = validateProfileType(type, `${field}.type`, "type is required when seccompProfile is set");
  if (type !== "Localhost") {
    const text = "can only be set when seccomp type is Localhost";
    return isPresent(path)
      ? [...errors, fieldError.invalid(pathField, internalForm(profile, "core/v1.SeccompProfile"), text)]
      : errors;
  }
  return isPresent(path)
    ? [...errors, ...validateDescendingPath(textOf(path), pathField)]
    : [...errors, fieldError.required(pathField, "must be set when seccomp type is Localhost")];
}

export function validateAppArmorProfile(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const profile = objectOf(value);
  const [type, path] = [textOf(profile["type"]), profile["localhostProfile"]];
  if (type === "Localhost") return validateAppArmorPath(path, `${field}.localhostProfile`);
  const errors = validateProfileType(type, `${field}.type`, "type is required when appArmorProfile is set");
  if (errors.length > 0 || !isPresent(path)) return errors;
  return [fieldError.invalid(`${field}.localhostProfile`, path, "can only be set when AppArmor type is Localhost")];
}

function validateAppArmorPath(path: JsonValue | undefined, field: string): FieldError[] {
  const text = textOf(path);
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

function validateProcMount(value: JsonValue | undefined, hostUsers: boolean, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const errors = procMounts.includes(textOf(value)) ? [] : [fieldError.notSupported(field, value, procMounts)];
  if (hostUsers && value === "Unmasked") {
    errors.push(fieldError.invalid(field, value, "`hostUsers` must be false to use `Unmasked`"));
  }
  return errors;
}

/** A process that has all privileges already cannot be kept from gaining them. */
function validateEscalation(context: JsonObject, field: string): FieldError[] {
  if (context["allowPrivilegeEscalation"] !== false) return [];
  const errors: FieldError[] = [];
  if (context["privileged"] === true) {
    const text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
    errors.push(fieldError.invalid(field, internalForm(context, "core/v1.SecurityContext"), text));
  }
  if (textsOf(objectOf(context["capabilities"])["add"]).includes("CAP_SYS_ADMIN")) {
    const text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
    errors.push(fieldError.invalid(field, internalForm(context, "core/v1.SecurityContext"), text));
  }
  return errors;
}
