import type { FileCheck } from "../../../api/codec/configuration-file.ts";
import { isDnsSubdomain } from "../../../api/dns-name.ts";
import { fieldError } from "../../../api/field-error.ts";
import { type JsonObject } from "../../../api/json.ts";
import { listOf, objectOf } from "../../../api/json-reading.ts";
import { ExpressionProblem, selectsField, type TypedProgram } from "../../../cel/index.ts";
import {
  claimsEnvironment,
  compileMapping,
  compileRule,
  userEnvironment,
  type ValidationRule,
} from "./claim-expressions.ts";

export interface PrefixedClaim {
  readonly claim: string;
  readonly prefix: string;
}

/** An attribute of the user: a claim, or an expression over all claims. */
export type Mapping<Claim> = Claim | { readonly expression: TypedProgram };

export interface ClaimMappings {
  readonly username: Mapping<PrefixedClaim>;
  readonly groups: Mapping<PrefixedClaim> | undefined;
  readonly uid: Mapping<string> | undefined;
  /** Further attributes of the user. */
  readonly extra?: readonly { readonly key: string; readonly expression: TypedProgram }[];
}

export interface ClaimRules {
  /** Claims with a required value. */
  readonly requiredClaims: readonly (readonly [claim: string, value: string])[];
  readonly claimRules?: readonly ValidationRule[];
}

const bothSet = "claim and expression can't both be set";
const claimsName = "claims";
const reservedDomains = ["k8s.io", "kubernetes.io"];

/** Parses `claimValidationRules`: required values, and expressions over all claims. */
export function parseClaimRules(check: FileCheck, value: JsonObject, path: string): ClaimRules {
  const seen = new Set<string>();
  const requiredClaims: [string, string][] = [];
  const claimRules: ValidationRule[] = [];
  for (const [at, entry] of listOf(value["claimValidationRules"]).entries()) {
    const rule = objectOf(entry);
    const field = `${path}.claimValidationRules[${at}]`;
    check.fields(rule, field, ["claim", "requiredValue", "expression", "message"]);
    const claim = check.text(rule, field, "claim");
    const text = check.text(rule, field, "expression");
    const message = check.text(rule, field, "message");
    const requiredValue = check.text(rule, field, "requiredValue");
    if (claim !== "" && text !== "") check.errors.push(fieldError.invalid(field, claim, bothSet));
    else if (claim === "" && text === "") {
      check.errors.push(fieldError.required(field, "claim or expression is required"));
    } else if (claim !== "") {
      if (message !== "") {
        check.errors.push(fieldError.invalid(`${field}.message`, message, "may not be specified when claim is set"));
      }
      refuseRepeated(check, seen, claim, `${field}.claim`);
      requiredClaims.push([claim, requiredValue]);
    } else {
      if (requiredValue !== "") {
        const why = "may not be specified when expression is set";
        check.errors.push(fieldError.invalid(`${field}.requiredValue`, requiredValue, why));
      }
      if (refuseRepeated(check, seen, `expression ${text}`, `${field}.expression`, text)) continue;
      const expression = compiled(check, text, `${field}.expression`, () => compileRule(text, claimsEnvironment));
      if (expression !== undefined) claimRules.push({ expression, message });
    }
  }
  return { requiredClaims, claimRules };
}

/** Parses `userValidationRules`: expressions over the user that the mappings make. */
export function parseUserRules(check: FileCheck, value: JsonObject, path: string): ValidationRule[] {
  const seen = new Set<string>();
  return listOf(value["userValidationRules"]).flatMap((entry, at) => {
    const rule = objectOf(entry);
    const field = `${path}.userValidationRules[${at}]`;
    check.fields(rule, field, ["expression", "message"]);
    const text = check.text(rule, field, "expression");
    if (text === "") {
      check.errors.push(fieldError.required(`${field}.expression`));
      return [];
    }
    if (refuseRepeated(check, seen, text, `${field}.expression`)) return [];
    const expression = compiled(check, text, `${field}.expression`, () => compileRule(text, userEnvironment));
    return expression === undefined ? [] : [{ expression, message: check.text(rule, field, "message") }];
  });
}

/** Parses `claimMappings`. @param claimRules rules that may also use the claim `email_verified` */
export function parseMappings(
  check: FileCheck,
  value: JsonObject,
  path: string,
  claimRules: readonly ValidationRule[],
): ClaimMappings {
  const field = `${path}.claimMappings`;
  const mappings = check.object(value, path, "claimMappings") ?? {};
  check.fields(mappings, field, ["username", "groups", "uid", "extra"]);
  const username = parsePrefixed(check, mappings, field, "username");
  const parsed = {
    username: username ?? { claim: "", prefix: "" },
    groups: parsePrefixed(check, mappings, field, "groups"),
    uid: parseUid(check, mappings, field),
    extra: parseExtra(check, mappings, `${field}.extra`),
  };
  if ("expression" in parsed.username) {
    const used = [parsed.username, ...parsed.extra, ...claimRules].map(({ expression }) => expression);
    refuseUnverifiedEmail(check, parsed.username.expression, used, `${field}.username.expression`);
  }
  return parsed;
}

/** Rejects a username taken from an email unless some expression checks that the email is verified. */
function refuseUnverifiedEmail(
  check: FileCheck,
  username: TypedProgram,
  expressions: readonly TypedProgram[],
  field: string,
): void {
  const uses = ({ compiled: { checked } }: TypedProgram, claim: string) =>
    selectsField(checked.expr, claimsName, claim);
  if (!uses(username, "email") || expressions.some((expression) => uses(expression, "email_verified"))) return;
  const why =
    "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
  check.errors.push(fieldError.invalid(field, username.text, why));
}

/** Parses a claim with its prefix, or an expression. A claim must have a prefix, although it may be empty. */
function parsePrefixed(
  check: FileCheck,
  mappings: JsonObject,
  path: string,
  name: "username" | "groups",
): Mapping<PrefixedClaim> | undefined {
  const field = `${path}.${name}`;
  const value = check.object(mappings, path, name) ?? {};
  check.fields(value, field, ["claim", "prefix", "expression"]);
  const claim = check.text(value, field, "claim");
  const text = check.text(value, field, "expression");
  const prefix = check.text(value, field, "prefix");
  const hasPrefix = value["prefix"] !== undefined && value["prefix"] !== null;
  if (claim !== "" && text !== "") check.errors.push(fieldError.invalid(field, "", bothSet));
  else if (claim !== "") {
    if (!hasPrefix) {
      const why = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
      check.errors.push(fieldError.required(`${field}.prefix`, why));
    }
    return { claim, prefix };
  } else if (text !== "") {
    if (hasPrefix) {
      const why = "may not be specified when expression is set";
      check.errors.push(fieldError.invalid(`${field}.prefix`, prefix, why));
    }
    const expression = compiled(check, text, `${field}.expression`, () => compileMapping(text));
    return expression === undefined ? undefined : { expression };
  } else if (name === "username") {
    check.errors.push(fieldError.required(field, "claim or expression is required"));
  }
  return undefined;
}

function parseUid(check: FileCheck, mappings: JsonObject, path: string): ClaimMappings["uid"] {
  const field = `${path}.uid`;
  const value = check.object(mappings, path, "uid") ?? {};
  check.fields(value, field, ["claim", "expression"]);
  const claim = check.text(value, field, "claim");
  const text = check.text(value, field, "expression");
  if (claim !== "" && text !== "") check.errors.push(fieldError.invalid(field, "", bothSet));
  if (text === "") return claim === "" ? undefined : claim;
  const expression = compiled(check, text, `${field}.expression`, () => compileMapping(text));
  return expression === undefined ? undefined : { expression };
}

function parseExtra(check: FileCheck, mappings: JsonObject, path: string): NonNullable<ClaimMappings["extra"]> {
  const seen = new Set<string>();
  return listOf(mappings["extra"]).flatMap((entry, at) => {
    const value = objectOf(entry);
    const field = `${path}[${at}]`;
    check.fields(value, field, ["key", "valueExpression"]);
    const key = check.text(value, field, "key");
    const text = check.text(value, field, "valueExpression");
    refuseKey(check, key, `${field}.key`);
    if (refuseRepeated(check, seen, key, `${field}.key`)) return [];
    if (text === "") {
      check.errors.push(fieldError.required(`${field}.valueExpression`));
      return [];
    }
    const expression = compiled(check, text, `${field}.valueExpression`, () => compileMapping(text));
    return expression === undefined ? [] : [{ key, expression }];
  });
}

/** Keys look like `example.org/foo`. */
function refuseKey(check: FileCheck, key: string, field: string): void {
  const slash = key.indexOf("/");
  const [domain, rest] = [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)];
  if (key === "") check.errors.push(fieldError.required(field));
  else if (slash < 0 || domain === "" || rest === "") {
    check.errors.push(fieldError.invalid(field, key, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  } else if (!isDnsSubdomain(domain)) {
    check.errors.push(fieldError.invalid(field, domain, "must be a lower-case DNS subdomain"));
  }
  if (key !== key.toLowerCase()) check.errors.push(fieldError.invalid(field, key, "must be lowercase"));
  if (reservedDomains.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`))) {
    const why = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
    check.errors.push(fieldError.invalid(field, key, why));
  }
}

function refuseRepeated(check: FileCheck, seen: Set<string>, value: string, field: string, shown = value): boolean {
  if (seen.has(value)) {
    check.errors.push(fieldError.duplicate(field, shown));
    return true;
  }
  seen.add(value);
  return false;
}

function compiled(
  check: FileCheck,
  text: string,
  field: string,
  compile: () => TypedProgram,
): TypedProgram | undefined {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof ExpressionProblem)) throw error;
    check.errors.push(fieldError.invalid(field, text, error.message));
    return undefined;
  }
}
