import { isError, type Json } from "../../cel/index.ts";
import type { CompiledVariable } from "../../kinds/admissionregistration/expressions/composition.ts";
import type { EvaluationSteps } from "./access-checks.ts";
import { conditionsCostMax, Evaluation, OutOfBudget, type StoredExpression } from "./evaluation.ts";
import type { RequestValues } from "./request-values.ts";

/** A condition of a webhook or policy. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: StoredExpression;
}

export type ConditionsOutcome =
  | { readonly kind: "match" }
  /** If a condition is false, errors of others do not count. */
  | { readonly kind: "noMatch"; readonly condition: string }
  | { readonly kind: "failed"; readonly message: string };

/** An evaluation that did not end in a match, as metrics count it. */
export interface ConditionsTime {
  readonly seconds: number;
  readonly isExcluded: boolean;
  /** Conditions that could not be evaluated. */
  readonly errors: number;
}

export interface MatchConditionOptions {
  readonly observe?: ((time: ConditionsTime) => void) | undefined;
  readonly variables?: ReadonlyMap<string, CompiledVariable>;
  readonly params?: Json | undefined;
}

/** Evaluates all conditions. Namespaces are not visible to them. @throws PendingCheck */
export function* evaluateMatchConditions(
  conditions: readonly MatchCondition[],
  values: RequestValues,
  { observe, ...options }: MatchConditionOptions = {},
): EvaluationSteps<ConditionsOutcome> {
  const startMs = performance.now();
  const evaluation = new Evaluation(values, { ...options, budget: conditionsCostMax });
  const errors: string[] = [];
  let excluded: string | undefined;
  try {
    for (const { name, expression } of conditions) {
      const result = yield* evaluation.run(expression);
      if (isError(result)) errors.push(result.message);
      else if (result === false) excluded ??= name;
      yield;
    }
  } catch (error) {
    if (error instanceof OutOfBudget) return { kind: "failed", message: error.message };
    throw error;
  }
  const isExcluded = excluded !== undefined;
  if (errors.length === 0 && !isExcluded) return { kind: "match" };
  observe?.({ seconds: (performance.now() - startMs) / 1_000, isExcluded, errors: errors.length });
  if (excluded !== undefined) return { kind: "noMatch", condition: excluded };
  return { kind: "failed", message: joinErrors(errors) };
}

/** Joins errors as Go does: a single error is unchanged, and equal errors count once. */
function joinErrors(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(", ")}]`;
}
