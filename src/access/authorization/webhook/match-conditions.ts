import type { JsonObject } from "../../../api/json.ts";

/** Evaluates one compiled `matchConditions[].expression`. @throws Error when it cannot be evaluated for this request */
export type MatchCondition = (request: JsonObject) => boolean;

/** Compiles CEL expressions over `request`, the spec of the review. @throws Error with the problem */
export interface MatchConditionCompiler {
  compile(expression: string): MatchCondition;
}

/** Rejects every expression where no expression language is built in. */
export const noMatchConditions: MatchConditionCompiler = {
  compile() {
    throw new Error("CEL expressions cannot be evaluated by this version: leave matchConditions out");
  },
};

/**
 * Reports whether to call a webhook: false if any condition is false, true if all are true.
 * @throws Error of the first failed condition, when none is false
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
