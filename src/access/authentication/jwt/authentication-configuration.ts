import { type FileCheck, parseConfigurationFile } from "../../../api/codec/configuration-file.ts";
import { fieldError } from "../../../api/field-error.ts";
import { type JsonObject } from "../../../api/json.ts";
import { listOf, objectOf } from "../../../api/json-reading.ts";
import type { ValidationRule } from "./claim-expressions.ts";
import {
  type ClaimMappings,
  type ClaimRules,
  parseClaimRules,
  parseMappings,
  parseUserRules,
} from "./claim-mappings.ts";

const kind = "AuthenticationConfiguration";
const versions = ["v1", "v1beta1", "v1alpha1"];
const authenticatorsMax = 64;

/** A trusted issuer of tokens and the mapping of its claims. */
export interface JwtIssuer extends ClaimMappings, ClaimRules {
  readonly url: string;
  /** URL of the discovery document; undefined means below `url`. */
  readonly discoveryUrl: string | undefined;
  /** PEM of its authorities; undefined for those of the system. */
  readonly certificateAuthority: string | undefined;
  readonly audiences: readonly string[];
  readonly userRules?: readonly ValidationRule[];
  readonly algorithms: readonly string[];
}

export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtIssuer[];
  /** Anonymous access; undefined if the file does not configure it. Undefined `paths` means all. */
  readonly anonymous: { readonly enabled: boolean; readonly paths: readonly string[] | undefined } | undefined;
}

/** Algorithms that a public key set can verify. Algorithms with a shared secret are not among them. */
export const asymmetricAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
] as const;

/**
 * Parses an AuthenticationConfiguration, YAML or JSON.
 * @param ownIssuers the issuers of service account tokens, which no other issuer may use
 * @throws Error that lists every problem
 */
export function parseAuthenticationConfiguration(
  bytes: Uint8Array,
  ownIssuers: readonly string[],
): AuthenticationConfiguration {
  return parseConfigurationFile(bytes, { kind, versions, fields: ["jwt", "anonymous"] }, (value, check) => {
    const entries = listOf(value["jwt"]);
    if (entries.length > authenticatorsMax) {
      check.errors.push(fieldError.tooMany("jwt", entries.length, authenticatorsMax));
    }
    const jwt = entries.map((entry, at) => parseIssuer(check, objectOf(entry), `jwt[${at}]`));
    checkTogether(check, jwt, ownIssuers);
    return { jwt, anonymous: parseAnonymous(check, value) };
  });
}

function checkTogether(check: FileCheck, jwt: readonly JwtIssuer[], ownIssuers: readonly string[]): void {
  const seen = new Set<string>();
  for (const [at, { url, discoveryUrl }] of jwt.entries()) {
    if (ownIssuers.includes(url)) {
      const detail = "URL must not overlap with disallowed issuers: service account tokens come from it";
      check.errors.push(fieldError.invalid(`jwt[${at}].issuer.url`, url, detail));
    }
    if (seen.has(url)) check.errors.push(fieldError.duplicate(`jwt[${at}].issuer.url`, url));
    if (discoveryUrl !== undefined && seen.has(discoveryUrl)) {
      check.errors.push(fieldError.duplicate(`jwt[${at}].issuer.discoveryURL`, discoveryUrl));
    }
    seen.add(url);
    if (discoveryUrl !== undefined) seen.add(discoveryUrl);
  }
}

const issuerFields = [
  "url",
  "discoveryURL",
  "certificateAuthority",
  "audiences",
  "audienceMatchPolicy",
  "egressSelectorType",
];

/** Egress selectors. Both mean the same network here. */
const egressSelectorTypes = ["controlplane", "cluster"];

function parseIssuer(check: FileCheck, value: JsonObject, path: string): JwtIssuer {
  check.fields(value, path, ["issuer", "claimValidationRules", "claimMappings", "userValidationRules"]);
  const issuer = check.object(value, path, "issuer") ?? {};
  const issuerPath = `${path}.issuer`;
  check.fields(issuer, issuerPath, issuerFields);
  const url = parseUrl(check, issuer, issuerPath, "url");
  const discoveryUrl = check.text(issuer, issuerPath, "discoveryURL");
  if (discoveryUrl !== "") {
    parseUrl(check, issuer, issuerPath, "discoveryURL");
    if (discoveryUrl === url) {
      check.errors.push(
        fieldError.invalid(`${issuerPath}.discoveryURL`, url, "discoveryURL must be different from URL"),
      );
    }
  }
  const egress = check.text(issuer, issuerPath, "egressSelectorType");
  if (egress !== "" && !egressSelectorTypes.includes(egress)) {
    const detail = "egress selector must be either controlplane or cluster";
    check.errors.push(fieldError.invalid(`${issuerPath}.egressSelectorType`, egress, detail));
  }
  const certificateAuthority = check.text(issuer, issuerPath, "certificateAuthority");
  const rules = parseClaimRules(check, value, path);
  return {
    url,
    discoveryUrl: discoveryUrl === "" ? undefined : discoveryUrl,
    certificateAuthority: certificateAuthority === "" ? undefined : certificateAuthority,
    audiences: parseAudiences(check, issuer, issuerPath),
    ...rules,
    ...parseMappings(check, value, path, rules.claimRules ?? []),
    userRules: parseUserRules(check, value, path),
    algorithms: asymmetricAlgorithms,
  };
}

/** Parses an https URL with only host and path. */
function parseUrl(check: FileCheck, value: JsonObject, path: string, name: string): string {
  const text = check.text(value, path, name);
  const field = `${path}.${name}`;
  if (text === "") {
    check.errors.push(fieldError.required(field, "URL is required"));
    return text;
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem =
    url === undefined
      ? "must be a URL"
      : url.protocol !== "https:"
        ? "URL scheme must be https"
        : url.username !== "" || url.password !== ""
          ? "URL must not contain a username or password"
          : text.includes("?")
            ? "URL must not contain a query"
            : text.includes("#")
              ? "URL must not contain a fragment"
              : undefined;
  if (problem !== undefined) check.errors.push(fieldError.invalid(field, text, problem));
  return text;
}

function parseAudiences(check: FileCheck, issuer: JsonObject, path: string): string[] {
  const audiences = listOf(issuer["audiences"]).filter((one) => typeof one === "string");
  const field = `${path}.audiences`;
  if (audiences.length === 0)
    check.errors.push(fieldError.required(field, "at least one jwt.issuer.audiences is required"));
  for (const [at, audience] of audiences.entries()) {
    if (audience === "") check.errors.push(fieldError.required(`${field}[${at}]`, "audience can't be empty"));
    if (audiences.indexOf(audience) < at) check.errors.push(fieldError.duplicate(`${field}[${at}]`, audience));
  }
  const policy = check.text(issuer, path, "audienceMatchPolicy");
  const policyField = `${path}.audienceMatchPolicy`;
  if (audiences.length > 1 && policy !== "MatchAny") {
    const detail = "audienceMatchPolicy must be MatchAny for multiple audiences";
    check.errors.push(fieldError.invalid(policyField, policy, detail));
  } else if (policy !== "" && policy !== "MatchAny") {
    const detail = "audienceMatchPolicy must be empty or MatchAny for single audience";
    check.errors.push(fieldError.invalid(policyField, policy, detail));
  }
  return audiences;
}

function parseAnonymous(check: FileCheck, value: JsonObject): AuthenticationConfiguration["anonymous"] {
  const anonymous = check.object(value, "", "anonymous");
  if (anonymous === undefined) return undefined;
  check.fields(anonymous, "anonymous", ["enabled", "conditions"]);
  const enabled = check.boolean(anonymous, "anonymous", "enabled", false);
  const conditions = listOf(anonymous["conditions"]);
  if (conditions.length === 0) return { enabled, paths: undefined };
  if (!enabled) {
    const detail = "enabled should be set to true when conditions are defined";
    check.errors.push(fieldError.invalid("anonymous.conditions", [...conditions], detail));
  }
  const paths = conditions.map((condition, at) => {
    const one = objectOf(condition);
    const field = `anonymous.conditions[${at}]`;
    check.fields(one, field, ["path"]);
    return check.text(one, field, "path");
  });
  return { enabled, paths };
}
