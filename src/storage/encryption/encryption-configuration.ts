import { type FileCheck, parseConfigurationFile } from "../../api/codec/configuration-file.ts";
import { fieldError } from "../../api/field-error.ts";
import { parseGoDuration } from "../../api/go-duration.ts";
import type { JsonObject } from "../../api/json.ts";
import { listOf, objectOf } from "../../api/json-reading.ts";
import { checkResourceNames } from "./check-resource-names.ts";

/** Key of a cipher. */
export interface NamedKey {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export type ProviderConfiguration =
  | { readonly kind: "identity" }
  | { readonly kind: "aesgcm" | "aescbc" | "secretbox"; readonly keys: readonly NamedKey[] }
  | {
      readonly kind: "kms";
      readonly name: string;
      readonly apiVersion: string;
      /** URL of a Unix socket. */
      readonly endpoint: string;
      /** Time limit of each call. */
      readonly timeoutMs: number;
    };

/** Resources with the providers that read them, of which the first one writes. */
export interface ResourceConfiguration {
  readonly resources: readonly string[];
  readonly providers: readonly ProviderConfiguration[];
}

const kind = "EncryptionConfiguration";
const providerNames = ["aesgcm", "aescbc", "secretbox", "identity", "kms"] as const;
/** Sizes of keys in bytes. */
const keySizes = { aesgcm: [16, 24, 32], aescbc: [16, 24, 32], secretbox: [32] } as const;

/**
 * Parses an EncryptionConfiguration, YAML or JSON. Messages are upstream's and never contain a key.
 * @throws Error that lists every problem
 */
export function parseEncryptionConfiguration(bytes: Uint8Array): readonly ResourceConfiguration[] {
  return parseConfigurationFile(bytes, { kind, versions: ["v1"], fields: ["resources"] }, (value, check) => {
    const entries = listOf(value["resources"]);
    if (entries.length === 0) {
      check.errors.push(fieldError.required("resources", "at least one resources is required"));
    }
    const kmsNames = new Set<string>();
    return entries.map((entry, at) => parseEntry(check, objectOf(entry), `resources[${at}]`, kmsNames));
  });
}

function parseEntry(check: FileCheck, entry: JsonObject, path: string, kmsNames: Set<string>): ResourceConfiguration {
  check.fields(entry, path, ["resources", "providers"]);
  const resources = listOf(entry["resources"]).map(String);
  const providers = listOf(entry["providers"]);
  for (const [list, name] of [
    [resources, "resources"],
    [providers, "providers"],
  ] as const) {
    const field = `${path}.${name}`;
    if (list.length === 0) check.errors.push(fieldError.required(field, `at least one ${field} is required`));
    if (name === "resources") check.errors.push(...checkResourceNames(resources, field));
  }
  return {
    resources,
    providers: providers.flatMap(
      (provider, at) => parseProvider(check, objectOf(provider), `${path}.providers[${at}]`, kmsNames) ?? [],
    ),
  };
}

function parseProvider(
  check: FileCheck,
  provider: JsonObject,
  path: string,
  kmsNames: Set<string>,
): ProviderConfiguration | undefined {
  check.fields(provider, path, providerNames);
  const [name, ...others] = providerNames.filter((known) => (provider[known] ?? undefined) !== undefined);
  if (name === undefined) {
    const detail = "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity";
    check.errors.push(fieldError.invalidUnshown(path, detail));
    return undefined;
  }
  if (others.length > 0) {
    const detail = "more than one provider specified in a single element, should split into different list elements";
    check.errors.push(fieldError.invalidUnshown(path, detail));
    return undefined;
  }
  const field = `${path}.${name}`;
  const value = check.object(provider, path, name) ?? {};
  if (name === "kms") return parseKms(check, value, field, kmsNames);
  if (name === "identity") {
    check.fields(value, field, []);
    return { kind: name };
  }
  check.fields(value, field, ["keys"]);
  return { kind: name, keys: parseKeys(check, listOf(value["keys"]).map(objectOf), `${field}.keys`, keySizes[name]) };
}

function parseKeys(
  check: FileCheck,
  keys: readonly JsonObject[],
  path: string,
  sizes: readonly number[],
): readonly NamedKey[] {
  if (keys.length === 0) check.errors.push(fieldError.required(path, "at least one keys is required"));
  return keys.map((key, at) => {
    const field = `${path}[${at}]`;
    check.fields(key, field, ["name", "secret"]);
    const name = check.text(key, field, "name");
    if (name === "") check.errors.push(fieldError.required(`${field}.name`, "name is a mandatory field for a key"));
    return { name, bytes: parseSecret(check, key, `${field}.secret`, sizes) };
  });
}

function parseSecret(check: FileCheck, key: JsonObject, field: string, sizes: readonly number[]): Uint8Array {
  const { secret = "" } = key;
  if (secret === "" || secret === null) {
    check.errors.push(fieldError.required(field, "secret is a mandatory field for a key"));
    return new Uint8Array();
  }
  const bytes = typeof secret === "string" ? decodeBase64(secret) : undefined;
  if (bytes === undefined) {
    check.errors.push(fieldError.invalid(field, "REDACTED", "secrets must be base64 encoded"));
    return new Uint8Array();
  }
  if (!sizes.includes(bytes.length)) {
    const detail = `secret is not of the expected length, got ${bytes.length}, expected one of [${sizes.join(" ")}]`;
    check.errors.push(fieldError.invalid(field, "REDACTED", detail));
  }
  return bytes;
}

/** Decodes base64 with padding; undefined for other text. Line breaks do not count. */
function decodeBase64(text: string): Uint8Array | undefined {
  const joined = text.replaceAll(/[\r\n]/g, "");
  return joined.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(joined) ? Buffer.from(joined, "base64") : undefined;
}

const kmsFields = ["apiVersion", "name", "cachesize", "endpoint", "timeout"];
const kmsVersions = ["v1", "v2"];
const kmsTimeoutMsDefault = 3_000;

function parseKms(check: FileCheck, value: JsonObject, path: string, names: Set<string>): ProviderConfiguration {
  check.fields(value, path, kmsFields);
  const apiVersion = check.text(value, path, "apiVersion") || "v1";
  const name = parseKmsName(check, value, `${path}.name`, { apiVersion, names });
  const timeoutMs = parseKmsTimeout(check, value, path);
  const endpoint = check.text(value, path, "endpoint");
  checkEndpoint(check, endpoint, `${path}.endpoint`);
  const { cachesize } = value;
  if (cachesize !== undefined && cachesize !== null) {
    if (apiVersion !== "v1") {
      check.errors.push(fieldError.invalid(`${path}.cachesize`, cachesize, "cachesize is not supported in v2"));
    } else if (cachesize === 0) {
      const detail = "cachesize should be a positive value, or negative to disable";
      check.errors.push(fieldError.invalid(`${path}.cachesize`, cachesize, detail));
    }
  }
  if (!kmsVersions.includes(apiVersion)) {
    const detail = "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported";
    check.errors.push(fieldError.invalid(`${path}.apiVersion`, apiVersion, detail));
  }
  return { kind: "kms", name, apiVersion, endpoint, timeoutMs };
}

function parseKmsTimeout(check: FileCheck, value: JsonObject, path: string): number {
  const text = check.text(value, path, "timeout");
  if (text === "") return kmsTimeoutMsDefault;
  const nanos = parseGoDuration(text);
  if (nanos !== undefined && nanos > 0n) return Math.max(1, Number(nanos / 1_000_000n));
  check.errors.push(fieldError.invalid(`${path}.timeout`, text, "timeout should be a positive value"));
  return kmsTimeoutMsDefault;
}

function parseKmsName(
  check: FileCheck,
  value: JsonObject,
  field: string,
  { apiVersion, names }: { apiVersion: string; names: Set<string> },
): string {
  const name = typeof value["name"] === "string" ? value["name"] : "";
  if (name === "") check.errors.push(fieldError.required(field, "name is a mandatory field for a provider"));
  if (apiVersion !== "v1" && name.includes(":")) {
    check.errors.push(fieldError.invalid(field, name, `invalid KMS provider name ${name}, must not contain ':'`));
  }
  if (names.has(name)) {
    check.errors.push(fieldError.invalid(field, name, `duplicate KMS provider name ${name}, names must be unique`));
  }
  names.add(name);
  return name;
}

function checkEndpoint(check: FileCheck, endpoint: string, field: string): void {
  if (endpoint === "") {
    check.errors.push(fieldError.invalid(field, "", "endpoint is a mandatory field for a kms"));
    return;
  }
  const colon = endpoint.indexOf("://");
  const scheme = colon < 0 ? "" : endpoint.slice(0, colon);
  if (scheme === "unix") {
    if (!URL.canParse(endpoint)) {
      check.errors.push(fieldError.invalid(field, endpoint, "invalid endpoint for kms provider, error: not a URL"));
    }
    return;
  }
  const detail = `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`;
  check.errors.push(fieldError.invalid(field, endpoint, detail));
}
