import type { MatchCondition as StoredCondition, Variable } from "../../api/types/admissionregistration-v1.ts";
import type { celTypes } from "../../cel/index.ts";
import { ExpressionProblem } from "../../cel/index.ts";
import { Composition } from "../../kinds/admissionregistration/expressions/composition.ts";
import type { ExpressionPlace } from "../../kinds/admissionregistration/expressions/environments.ts";
import { resultTypes } from "../../kinds/admissionregistration/validation/policy-expressions.ts";
import type { StoredExpression } from "../expressions/evaluation.ts";
import type { MatchCondition } from "../expressions/match-conditions.ts";

/** Compiles the expressions of a stored policy. Those that fail to compile fail again whenever they are evaluated. */
export class PolicyCompiler {
  readonly #composition = new Composition();
  readonly #hasParams: boolean;

  constructor(hasParams: boolean) {
    this.#hasParams = hasParams;
  }

  /** Compiles the variables, which come before all that uses them. Yields after each. */
  *addVariables(variables: readonly Variable[] = []): Generator<void, void> {
    const place = { hasParams: this.#hasParams, hasAuthorizer: true };
    for (const { name = "", expression = "" } of variables) {
      try {
        yield* this.#composition.addVariable(name, expression, place, "stored");
      } catch (error) {
        if (!(error instanceof ExpressionProblem)) throw error;
      }
      yield;
    }
  }

  get variables(): Composition["variables"] {
    return this.#composition.variables;
  }

  /** Yields between the phases. */
  *compile(text: string, use: keyof typeof resultTypes, place: ExpressionPlace): Generator<void, StoredExpression> {
    const expected: readonly celTypes.CelType[] = resultTypes[use];
    try {
      const program = yield* this.#composition.compile(
        text,
        { ...place, hasParams: this.#hasParams },
        "stored",
        expected,
      );
      return { kind: "ready", program };
    } catch (error) {
      if (error instanceof ExpressionProblem) return { kind: "failed", problem: error.message };
      throw error;
    }
  }

  /** Compiles match conditions. Yields after each. */
  *conditions(conditions: readonly StoredCondition[] = []): Generator<void, MatchCondition[]> {
    const compiled: MatchCondition[] = [];
    for (const { name = "", expression = "" } of conditions) {
      compiled.push({ name, expression: yield* this.compile(expression, "condition", { hasAuthorizer: true }) });
      yield;
    }
    return compiled;
  }
}
