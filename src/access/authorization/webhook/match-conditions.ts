import type { JsonObject } from "../../../api/json.ts";

/** One compiled `matchConditions[].expression`. @throws Error when it cannot be evaluated for this request */
export type MatchCondition = (request: JsonObject) => boolean;

/** Makes conditions of CEL expressions over `request`, the spec of the review. @throws Error that says what is wrong */
export interface MatchConditionCompiler {
  compile(expression: string): MatchCondition;
}

/** Stands in where no expression language is built in: an expression is refused, never ignored. */
export const noMatchConditions: MatchConditionCompiler = {
  compile() {
    throw new Error("CEL expressions cannot be evaluated by this version: leave matchConditions out");
  },
};

/**
 * Whether a webhook is asked: not when a condition is false, whatever the others do; all true: yes.
 * @throws Error of the first condition that failed, when none is false
 */
export function conditionsMatch(conditions: readonly MatchCondition[], request: JsonObject): boolean {
  let failure: unknown;
  for (const condition of conditions) {
    try {
      if (!condition(request)) return false;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return true;
}
