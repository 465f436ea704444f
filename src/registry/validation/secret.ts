import { type FieldError, fieldError } from "../../api/field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { validateFrozen } from "./config-map.ts";
import { validateImmutable } from "./immutable.ts";
import { base64Bytes, fieldsOf, keyValueBytesMax, validateKeys } from "./key-values.ts";

const serviceAccountNameAnnotation = "kubernetes.io/service-account.name";

/** Keys that a Secret of a known type must carry. */
const requiredKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ["kubernetes.io/dockercfg", [".dockercfg"]],
  ["kubernetes.io/dockerconfigjson", [".dockerconfigjson"]],
  ["kubernetes.io/ssh-auth", ["ssh-privatekey"]],
  ["kubernetes.io/tls", ["tls.crt", "tls.key"]],
]);
const jsonKeys = new Set([".dockercfg", ".dockerconfigjson"]);

/** `stringData` is expected to be merged into `data` already. */
export function validateSecret(secret: KubeObject): FieldError[] {
  const data = fieldsOf(secret["data"]);
  const errors = validateKeys(data, "data");
  if (base64Bytes(data) > keyValueBytesMax) errors.push(fieldError.tooLong("data", keyValueBytesMax));
  return [...errors, ...validateType(secret, data)];
}

export function validateSecretUpdate(secret: KubeObject, old: KubeObject): FieldError[] {
  const type = secret["type"] as JsonValue | undefined;
  return [
    ...validateImmutable(type, old["type"] as JsonValue | undefined, "type"),
    ...validateFrozen(secret, old, ["data"]),
  ];
}

function validateType(secret: KubeObject, data: JsonObject): FieldError[] {
  const type = String(secret["type"] ?? "");
  if (type === "kubernetes.io/service-account-token") {
    const name = secret.metadata.annotations?.[serviceAccountNameAnnotation] ?? "";
    return name === "" ? [fieldError.required(`metadata.annotations[${serviceAccountNameAnnotation}]`)] : [];
  }
  if (type === "kubernetes.io/basic-auth" && data["username"] === undefined && data["password"] === undefined) {
    return [fieldError.required("data[username]"), fieldError.required("data[password]")];
  }
  return (requiredKeys.get(type) ?? []).flatMap((key) => validateRequiredKey(data, key));
}

function validateRequiredKey(data: JsonObject, key: string): FieldError[] {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined) return [fieldError.required(`data[${key}]`)];
  if (!jsonKeys.has(key) || isJsonText(String(value))) return [];
  return [fieldError.invalid(`data[${key}]`, "<secret contents redacted>", "invalid JSON")];
}

function isJsonText(base64: string): boolean {
  try {
    return isJsonObject(JSON.parse(Buffer.from(base64, "base64").toString()));
  } catch {
    return false;
  }
}
