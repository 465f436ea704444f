import {
  celTypes,
  compileTyped,
  type Environment,
  ExpressionProblem,
  isError,
  type Json,
  List,
  recordTypes,
  storedEnvironment,
  type TypedProgram,
  type Value,
} from "../../../cel/index.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import { claimsValue } from "./claims-value.ts";

const { anyType, boolType, listOf, mapOf, stringType, structOf } = celTypes;
const userType = structOf("kubernetes.UserInfo");
const texts = listOf(stringType);

/** Declares `claims`, the claims of a token. */
export const claimsEnvironment = storedEnvironment().extend({
  variables: new Map([["claims", mapOf(stringType, anyType)]]),
});

/** Declares `user`, the result of the mappings. */
export const userEnvironment = storedEnvironment().extend({
  variables: new Map([["user", userType]]),
  provider: recordTypes(
    new Map([[userType, { username: stringType, uid: stringType, groups: texts, extra: mapOf(stringType, texts) }]]),
  ),
});

/** A condition that a token or its user must meet. */
export interface ValidationRule {
  readonly expression: TypedProgram;
  readonly message: string;
}

/** Compiles an expression of any type. @throws ExpressionProblem */
export function compileMapping(text: string): TypedProgram {
  return compileTyped(text, claimsEnvironment, []);
}

/** Compiles a condition. @throws ExpressionProblem */
export function compileRule(text: string, environment: Environment): TypedProgram {
  try {
    return compileTyped(text, environment, [boolType]);
  } catch (error) {
    if (!(error instanceof ExpressionProblem) || !error.message.startsWith("must evaluate")) throw error;
    throw new ExpressionProblem("must evaluate to bool");
  }
}

/** The claims of a token as expressions see them. */
export class ClaimExpressions {
  readonly #claims: Value;

  constructor(claims: Json) {
    this.#claims = claimsValue(claims);
  }

  /** @throws Error if the expression fails or its result is not a text */
  text(expression: TypedProgram, name: "username" | "uid"): string {
    const value = evaluate(expression, "claims", this.#claims);
    if (typeof value === "string") return value;
    throw new Error(`${name} claim expression must return a string`);
  }

  /** Returns a text, or the texts of a list. Empty ones count as absent. @throws Error for any other result */
  texts(expression: TypedProgram): string[] {
    const value = evaluate(expression, "claims", this.#claims);
    if (value === null) return [];
    const items = typeof value === "string" ? [value] : value instanceof List ? itemsOf(value) : undefined;
    if (items === undefined || items.some((item) => typeof item !== "string")) {
      throw new Error("expression must return a string or a list of strings");
    }
    return (items as string[]).filter((item) => item !== "");
  }

  /** @throws Error if a rule is not met */
  check(rules: readonly ValidationRule[]): void {
    checkRules(rules, "claims", this.#claims);
  }
}

/** @throws Error if the user does not meet a rule */
export function checkUser(rules: readonly ValidationRule[], { name, uid, groups, extra }: UserInfo): void {
  const fields: Json = {
    username: name,
    uid,
    groups: [...groups],
    extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])),
  };
  checkRules(rules, "user", claimsValue(fields));
}

function checkRules(rules: readonly ValidationRule[], name: string, subject: Value): void {
  // As upstream does, evaluate all rules before checking any result.
  const results = rules.map(({ expression }) => evaluate(expression, name, subject));
  for (const [at, { expression, message }] of rules.entries()) {
    if (results[at] !== true) throw new Error(`validation expression '${expression.text}' failed: ${message}`);
  }
}

function evaluate({ program, text }: TypedProgram, name: string, subject: Value): Value {
  const { value } = program.evaluate({ resolve: (asked) => (asked === name ? subject : undefined) });
  if (isError(value)) throw new Error(`expression '${text}' resulted in error: ${value.message}`);
  return value;
}

function itemsOf(list: List): unknown[] {
  return Array.from({ length: list.size }, (_, at) => list.at(at));
}
