import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { MatchCondition } from "../../../api/types/admissionregistration-v1.ts";
import { celTypes, compileTypedInSteps } from "../../../cel/index.ts";
import { expressionEnvironment } from "../expressions/environments.ts";
import { problemsOf } from "./policy-expressions.ts";

const conditionsMax = 64;

export interface MatchConditionOptions {
  /** The policy has parameters. */
  readonly hasParams?: boolean;
  /** The conditions of the object that is replaced. */
  readonly stored?: readonly MatchCondition[] | undefined;
}

/** Checks the expressions that must all be true before a webhook or policy applies. Yields between them. */
export function* validateMatchConditions(
  conditions: readonly MatchCondition[],
  field: string,
  { hasParams = false, stored = [] }: MatchConditionOptions = {},
): Generator<void, FieldError[]> {
  const errors = conditions.length > conditionsMax ? [fieldError.tooMany(field, conditions.length, conditionsMax)] : [];
  const known = new Set(stored.map(({ expression }) => expression));
  const seen = new Set<string>();
  for (const [at, { name = "", expression = "" }] of conditions.entries()) {
    const path = `${field}[${at}]`;
    const text = expression.trim();
    if (text === "") errors.push(fieldError.required(`${path}.expression`));
    // More conditions than there may be are not worth compiling.
    else if (at < conditionsMax) {
      const environment = expressionEnvironment({ hasParams, hasAuthorizer: true }, known.has(text) ? "stored" : "new");
      const compilation = compileTypedInSteps(text, environment, [celTypes.boolType]);
      errors.push(...(yield* problemsOf(`${path}.expression`, text, compilation)));
      yield;
    }
    if (name === "") {
      errors.push(fieldError.required(`${path}.name`));
      continue;
    }
    errors.push(...labelKeyErrors(name).map((problem) => fieldError.invalid(`${path}.name`, name, problem)));
    if (seen.has(name)) errors.push(fieldError.duplicate(`${path}.name`, name));
    seen.add(name);
  }
  return errors;
}
