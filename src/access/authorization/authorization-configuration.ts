import { existsSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type FileCheck, parseConfigurationFile } from "../../api/codec/configuration-file.ts";
import { isDnsSubdomain } from "../../api/dns-name.ts";
import { fieldError } from "../../api/field-error.ts";
import { formatGoDuration } from "../../api/go-duration.ts";
import { type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import { compileMatchCondition } from "./webhook/match-conditions.ts";

const versions = ["v1", "v1beta1", "v1alpha1"];
const kind = "AuthorizationConfiguration";
const types = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"] as const;
export const matchConditionsMax = 64;
export const webhookTimeoutMsMax = 30_000;
const authorizedTtlMsDefault = 300_000;
const unauthorizedTtlMsDefault = 30_000;

export type AuthorizerType = (typeof types)[number];

/** One entry of the file, in the order of evaluation. */
export type ConfiguredAuthorizer =
  | { readonly type: Exclude<AuthorizerType, "Webhook">; readonly name: string }
  | { readonly type: "Webhook"; readonly name: string; readonly webhook: ConfiguredWebhook };

export interface ConfiguredWebhook {
  /** Cache time of allowed decisions and, below, of others; 0 for none. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly timeoutMs: number;
  readonly version: "v1" | "v1beta1";
  readonly failurePolicy: "NoOpinion" | "Deny";
  readonly connection:
    | { readonly type: "InClusterConfig" }
    | { readonly type: "KubeConfigFile"; readonly file: string };
  readonly expressions: readonly string[];
}

/**
 * Parses an AuthorizationConfiguration, YAML or JSON.
 * @throws Error that lists every problem
 */
export function parseAuthorizationConfiguration(bytes: Uint8Array): readonly ConfiguredAuthorizer[] {
  return parseConfigurationFile(bytes, { kind, versions, fields: ["authorizers"] }, (value, check) => {
    const entries = Array.isArray(value["authorizers"]) ? value["authorizers"] : [];
    if (entries.length === 0) {
      check.errors.push(fieldError.required("authorizers", "at least one authorization mode must be defined"));
    }
    const parsed = entries.map((entry, at) => parseEntry(check, entry, `authorizers[${at}]`));
    checkTogether(check, parsed);
    return parsed;
  });
}

function parseEntry(check: FileCheck, entry: JsonValue, path: string): ConfiguredAuthorizer {
  const value = objectOf(entry);
  check.fields(value, path, ["type", "name", "webhook"]);
  const type = check.choice(value, path, "type", types);
  const name = check.text(value, path, "name");
  if (name === "") check.errors.push(fieldError.required(`${path}.name`));
  else if (!isDnsSubdomain(name)) {
    check.errors.push(fieldError.invalid(`${path}.name`, name, "must be a lower-case DNS subdomain"));
  }
  const webhook = check.object(value, path, "webhook");
  if (type !== "Webhook") {
    if (webhook !== undefined) {
      check.errors.push(fieldError.forbidden(`${path}.webhook`, "may only be specified when type=Webhook"));
    }
    return { type, name };
  }
  if (webhook === undefined) {
    check.errors.push(fieldError.required(`${path}.webhook`, "required when type=Webhook"));
  }
  return { type, name, webhook: parseWebhook(check, webhook ?? {}, `${path}.webhook`) };
}

const webhookFields = [
  "authorizedTTL",
  "cacheAuthorizedRequests",
  "unauthorizedTTL",
  "cacheUnauthorizedRequests",
  "timeout",
  "subjectAccessReviewVersion",
  "matchConditionSubjectAccessReviewVersion",
  "failurePolicy",
  "connectionInfo",
  "matchConditions",
];

function parseWebhook(check: FileCheck, value: JsonObject, path: string): ConfiguredWebhook {
  check.fields(value, path, webhookFields);
  const keepsAllowed = check.boolean(value, path, "cacheAuthorizedRequests", true);
  const keepsOthers = check.boolean(value, path, "cacheUnauthorizedRequests", true);
  const authorizedTtlMs = check.durationMs(value, path, "authorizedTTL") ?? authorizedTtlMsDefault;
  const unauthorizedTtlMs = check.durationMs(value, path, "unauthorizedTTL") ?? unauthorizedTtlMsDefault;
  const version = check.choice(value, path, "subjectAccessReviewVersion", ["v1", "v1beta1"]);
  check.choice(value, path, "matchConditionSubjectAccessReviewVersion", ["v1"]);
  return {
    authorizedTtlMs: keepsAllowed ? authorizedTtlMs : 0,
    unauthorizedTtlMs: keepsOthers ? unauthorizedTtlMs : 0,
    timeoutMs: parseTimeout(check, value, path),
    version,
    failurePolicy: check.choice(value, path, "failurePolicy", ["NoOpinion", "Deny"]),
    connection: parseConnection(check, value, path),
    expressions: parseConditions(check, value, `${path}.matchConditions`),
  };
}

function parseTimeout(check: FileCheck, value: JsonObject, path: string): number {
  const field = `${path}.timeout`;
  if (check.text(value, path, "timeout") === "") check.errors.push(fieldError.required(field));
  const timeoutMs = check.durationMs(value, path, "timeout") ?? webhookTimeoutMsMax;
  if (timeoutMs > webhookTimeoutMsMax) {
    const shown = formatGoDuration(BigInt(timeoutMs) * 1_000_000n);
    check.errors.push(fieldError.invalid(field, shown, "must be <= 30s"));
  }
  return timeoutMs;
}

function parseConnection(check: FileCheck, value: JsonObject, path: string): ConfiguredWebhook["connection"] {
  const info = check.object(value, path, "connectionInfo") ?? {};
  const infoPath = `${path}.connectionInfo`;
  check.fields(info, infoPath, ["type", "kubeConfigFile"]);
  const type = check.choice(info, infoPath, "type", ["InClusterConfig", "KubeConfigFile"]);
  const file = check.text(info, infoPath, "kubeConfigFile");
  const field = `${infoPath}.kubeConfigFile`;
  if (type === "InClusterConfig") {
    if (file !== "") check.errors.push(fieldError.invalid(field, file, "can only be set when type=KubeConfigFile"));
    return { type };
  }
  if (file === "") check.errors.push(fieldError.required(field));
  else if (!isAbsolute(file)) check.errors.push(fieldError.invalid(field, file, "must be an absolute path"));
  else if (!existsSync(file)) check.errors.push(fieldError.invalid(field, file, "the file does not exist"));
  else if (!statSync(file).isFile()) check.errors.push(fieldError.invalid(field, file, "must be a regular file"));
  return { type, file };
}

function parseConditions(check: FileCheck, value: JsonObject, path: string): readonly string[] {
  const given = value["matchConditions"];
  const conditions = Array.isArray(given) ? given : [];
  if (conditions.length > matchConditionsMax) {
    check.errors.push(fieldError.tooMany(path, conditions.length, matchConditionsMax));
    return [];
  }
  const seen = new Set<string>();
  return conditions.map((condition, at) => {
    const field = `${path}[${at}]`;
    const fields = objectOf(condition);
    check.fields(fields, field, ["expression"]);
    const expression = check.text(fields, field, "expression");
    if (expression.trim() === "") check.errors.push(fieldError.required(`${field}.expression`));
    else if (seen.has(expression)) check.errors.push(fieldError.duplicate(`${field}.expression`, expression));
    else compileCondition(check, expression, `${field}.expression`);
    seen.add(expression);
    return expression;
  });
}

function compileCondition(check: FileCheck, expression: string, field: string): void {
  try {
    compileMatchCondition(expression);
  } catch (error) {
    check.errors.push(fieldError.invalid(field, expression, (error as Error).message));
  }
}

/** Checks that names are unique and that only webhooks appear more than once. */
function checkTogether(check: FileCheck, parsed: readonly ConfiguredAuthorizer[]): void {
  const names = new Set<string>();
  const seenTypes = new Set<string>();
  for (const [at, { type, name }] of parsed.entries()) {
    if (name !== "" && names.has(name)) check.errors.push(fieldError.duplicate(`authorizers[${at}].name`, name));
    if (type !== "Webhook" && seenTypes.has(type)) {
      check.errors.push(fieldError.duplicate(`authorizers[${at}].type`, type));
    }
    names.add(name);
    seenTypes.add(type);
  }
}
