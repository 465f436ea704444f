import { accountNameAnnotation, tokenSecretType } from "../../../access/authentication/service-account/token-secret.ts";
import { JsonSyntaxError, parseJson } from "../../../api/codec/json.ts";
import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isJsonObject } from "../../../api/json.ts";
import type { Secret } from "../../../api/types/core-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { exceedKeyValueBytes, keyValueBytesMax, validateKeys } from "../../../api/validation/key-values.ts";
import { validateFrozen } from "./config-map.ts";

const sshKey = "ssh-privatekey";

/** Keys that a Secret of a known type must carry. */
const requiredKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ["kubernetes.io/dockercfg", [".dockercfg"]],
  ["kubernetes.io/dockerconfigjson", [".dockerconfigjson"]],
  ["kubernetes.io/ssh-auth", [sshKey]],
  ["kubernetes.io/tls", ["tls.crt", "tls.key"]],
]);
const jsonKeys = new Set([".dockercfg", ".dockerconfigjson"]);

/** `stringData` is expected to be merged into `data` already. */
export function validateSecret(secret: Secret): FieldError[] {
  const { data = {} } = secret;
  const errors = validateKeys(data, "data");
  if (exceedKeyValueBytes({}, data)) errors.push(fieldError.tooLong("data", keyValueBytesMax));
  return [...errors, ...validateType(secret, data)];
}

export function validateSecretUpdate(secret: Secret, old: Secret): FieldError[] {
  return [
    ...validateImmutable(secret.type, old.type, "type"),
    ...validateFrozen(secret, old, ["data"]),
    ...validateSecret(secret),
  ];
}

function validateType({ metadata, type = "" }: Secret, data: Readonly<Record<string, string>>): FieldError[] {
  if (type === tokenSecretType) {
    const name = metadata.annotations?.[accountNameAnnotation] ?? "";
    return name === "" ? [fieldError.required(`metadata.annotations[${accountNameAnnotation}]`)] : [];
  }
  if (type === "kubernetes.io/basic-auth" && data["username"] === undefined && data["password"] === undefined) {
    return [fieldError.required("data[username]"), fieldError.required("data[password]")];
  }
  return (requiredKeys.get(type) ?? []).flatMap((key) => validateRequiredKey(data, key));
}

function validateRequiredKey(data: Readonly<Record<string, string>>, key: string): FieldError[] {
  const field = `data[${key}]`;
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined || (value === "" && key === sshKey)) return [fieldError.required(field)];
  const problem = jsonKeys.has(key) ? configProblem(Buffer.from(value, "base64")) : undefined;
  return problem === undefined ? [] : [fieldError.invalid(field, "<secret contents redacted>", problem)];
}

/** Returns the reason why bytes are not a JSON object, in the words of upstream's decoder. */
function configProblem(bytes: Uint8Array): string | undefined {
  try {
    const { value } = parseJson(bytes, { strict: false });
    if (value === null || isJsonObject(value)) return undefined;
    const kind = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}
