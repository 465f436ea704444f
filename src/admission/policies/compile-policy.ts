import type { celTypes } from "../../cel/index.ts";
import { ExpressionProblem } from "../../cel/index.ts";
import type { MatchCondition as StoredCondition, Variable } from "../../api/types/admissionregistration-v1.ts";
import { Composition } from "../../kinds/admissionregistration/expressions/composition.ts";
import type { ExpressionPlace } from "../../kinds/admissionregistration/expressions/environments.ts";
import { resultTypes } from "../../kinds/admissionregistration/validation/policy-expressions.ts";
import type { StoredExpression } from "../expressions/evaluation.ts";
import type { MatchCondition } from "../expressions/match-conditions.ts";

/** Compiles the expressions of a stored policy. Those that fail to compile fail again whenever they are evaluated. */
export class PolicyCompiler {
  readonly #composition = new Composition();
  readonly #hasParams: boolean;

  constructor(hasParams: boolean, variables: readonly Variable[] = []) {
    this.#hasParams = hasParams;
    for (const { name = "", expression = "" } of variables) {
      try {
        this.#composition.addVariable(name, expression, { hasParams, hasAuthorizer: true }, "stored");
      } catch (error) {
        if (!(error instanceof ExpressionProblem)) throw error;
      }
    }
  }

  get variables(): Composition["variables"] {
    return this.#composition.variables;
  }

  compile(text: string, use: keyof typeof resultTypes, place: ExpressionPlace): StoredExpression {
    const expected: readonly celTypes.CelType[] = resultTypes[use];
    try {
      const program = this.#composition.compile(text, { ...place, hasParams: this.#hasParams }, "stored", expected);
      return { kind: "ready", program };
    } catch (error) {
      if (error instanceof ExpressionProblem) return { kind: "failed", problem: error.message };
      throw error;
    }
  }

  conditions(conditions: readonly StoredCondition[] = []): MatchCondition[] {
    return conditions.map(({ name = "", expression = "" }) => ({
      name,
      expression: this.compile(expression, "condition", { hasAuthorizer: true }),
    }));
  }
}
