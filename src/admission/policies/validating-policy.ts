import type { ValidatingAdmissionPolicy, Validation } from "../../api/types/admissionregistration-v1.ts";
import { isError, type Json, type Result } from "../../cel/index.ts";
import type { EvaluationSteps } from "../expressions/access-checks.ts";
import { Evaluation, evaluationCostMax, OutOfBudget, type StoredExpression } from "../expressions/evaluation.ts";
import { type ConditionsTime, evaluateMatchConditions, type MatchCondition } from "../expressions/match-conditions.ts";
import { conditionRequest, type ExpressionRequest, RequestValues } from "../expressions/request-values.ts";
import { PolicyCompiler } from "./compile-policy.ts";

const messageBytesMax = 5_120;

/** The verdict of one validation. */
export interface PolicyDecision {
  readonly kind: "admit" | "deny";
  /** How the expression came to it; an evaluation that fails admits or denies by the policy's failurePolicy. */
  readonly evaluation: "admit" | "deny" | "error";
  readonly message: string;
  /** "" where the evaluation failed. */
  readonly reason: string;
  /** Time that the expression took; 0 where no single one is to blame. */
  readonly seconds: number;
}

export type AnnotationOutcome =
  | { readonly kind: "publish"; readonly key: string; readonly value: string }
  | { readonly kind: "error"; readonly message: string };

export interface PolicyOutcome {
  /** In the order of the validations. */
  readonly decisions: readonly PolicyDecision[];
  readonly annotations: readonly AnnotationOutcome[];
}

const nothing: PolicyOutcome = { decisions: [], annotations: [] };
const admitted: PolicyDecision = { kind: "admit", evaluation: "admit", message: "", reason: "", seconds: 0 };

interface CompiledAnnotation {
  readonly key: string;
  readonly value: StoredExpression;
}

interface CompiledValidation {
  readonly validation: Validation;
  readonly expression: StoredExpression;
  readonly message: StoredExpression | undefined;
}

/** A ValidatingAdmissionPolicy, ready to judge requests. */
export class ValidatingPolicy {
  readonly #failsClosed: boolean;
  readonly #compiler: PolicyCompiler;
  readonly #conditions: readonly MatchCondition[];
  readonly #validations: readonly CompiledValidation[];
  readonly #annotations: readonly CompiledAnnotation[];

  private constructor(
    { spec = {} }: ValidatingAdmissionPolicy,
    compiler: PolicyCompiler,
    conditions: readonly MatchCondition[],
    validations: readonly CompiledValidation[],
    annotations: readonly CompiledAnnotation[],
  ) {
    this.#failsClosed = spec.failurePolicy !== "Ignore";
    this.#compiler = compiler;
    this.#conditions = conditions;
    this.#validations = validations;
    this.#annotations = annotations;
  }

  /** Yields between expressions. */
  static *compile(policy: ValidatingAdmissionPolicy): Generator<void, ValidatingPolicy> {
    const { paramKind, variables, matchConditions, validations = [], auditAnnotations = [] } = policy.spec ?? {};
    const compiler = new PolicyCompiler(paramKind !== undefined);
    yield* compiler.addVariables(variables);
    const conditions = yield* compiler.conditions(matchConditions);
    const checks: CompiledValidation[] = [];
    for (const validation of validations) {
      checks.push(yield* compileValidation(validation, compiler));
      yield;
    }
    const annotations: CompiledAnnotation[] = [];
    for (const { key = "", valueExpression = "" } of auditAnnotations) {
      annotations.push({
        key,
        value: yield* compiler.compile(valueExpression, "auditAnnotation", { hasAuthorizer: true }),
      });
      yield;
    }
    return new ValidatingPolicy(policy, compiler, conditions, checks, annotations);
  }

  /** Judges a request with one parameter. @throws PendingCheck for an answer of the authorizer that is not there yet */
  *evaluate(
    request: ExpressionRequest,
    params: Json | undefined,
    observe?: (time: ConditionsTime) => void,
  ): EvaluationSteps<PolicyOutcome> {
    const { variables } = this.#compiler;
    if (this.#conditions.length > 0) {
      const values = new RequestValues(conditionRequest(request));
      const outcome = yield* evaluateMatchConditions(this.#conditions, values, { variables, params, observe });
      if (outcome.kind === "noMatch") return nothing;
      // Conditions that fail leave the request alone where the policy ignores failures.
      if (outcome.kind === "failed") return this.#failsClosed ? this.#failed(outcome.message) : nothing;
    }
    const values = new RequestValues(request);
    const evaluate = (budget: number) => new Evaluation(values, { variables, params, budget });
    try {
      const decisions = yield* this.#decide(evaluate);
      const annotations = yield* this.#annotate(evaluate(evaluationCostMax));
      return { decisions, annotations };
    } catch (error) {
      if (error instanceof OutOfBudget) return this.#failed(error.message);
      throw error;
    }
  }

  #failed(message: string): PolicyOutcome {
    return { decisions: [this.#failedDecision(message)], annotations: [] };
  }

  #failedDecision(message: string, seconds = 0): PolicyDecision {
    return { kind: this.#failsClosed ? "deny" : "admit", evaluation: "error", message, reason: "", seconds };
  }

  *#decide(evaluate: (budget: number) => Evaluation): EvaluationSteps<PolicyDecision[]> {
    const evaluation = evaluate(evaluationCostMax);
    const results: { readonly value: Result; readonly seconds: number }[] = [];
    for (const { expression } of this.#validations) {
      const startMs = performance.now();
      const value = yield* evaluation.run(expression);
      results.push({ value, seconds: (performance.now() - startMs) / 1_000 });
      yield;
    }
    const messages = yield* this.#messages(evaluate(evaluation.budget));
    return this.#validations.map(({ validation }, at) => {
      const { value, seconds } = results[at] as (typeof results)[number];
      if (isError(value)) return this.#failedDecision(value.message, seconds);
      if (typeof messages === "string") return this.#failedDecision(messages, seconds);
      if (value === true) return admitted;
      const message = messageOf(validation, messages[at]);
      return { kind: "deny", evaluation: "deny", message, reason: validation.reason ?? "Invalid", seconds };
    });
  }

  /** Returns the results of the message expressions, or the reason why there are none. */
  *#messages(evaluation: Evaluation): EvaluationSteps<readonly (Result | undefined)[] | string> {
    const results: (Result | undefined)[] = [];
    try {
      for (const { message } of this.#validations) {
        results.push(message === undefined ? undefined : yield* evaluation.run(message));
        if (message !== undefined) yield;
      }
      return results;
    } catch (error) {
      if (error instanceof OutOfBudget) return `failed messageExpression: ${error.message}`;
      throw error;
    }
  }

  *#annotate(evaluation: Evaluation): EvaluationSteps<AnnotationOutcome[]> {
    const outcomes: AnnotationOutcome[] = [];
    for (const { key, value: expression } of this.#annotations) {
      const result = yield* evaluation.run(expression);
      const value = typeof result === "string" ? result.trim() : "";
      if (isError(result) && this.#failsClosed) outcomes.push({ kind: "error", message: result.message });
      else if (value !== "") outcomes.push({ kind: "publish", key, value });
      yield;
    }
    return outcomes;
  }
}

function* compileValidation(validation: Validation, compiler: PolicyCompiler): Generator<void, CompiledValidation> {
  const { expression = "", messageExpression = "" } = validation;
  return {
    validation,
    expression: yield* compiler.compile(expression, "condition", { hasAuthorizer: true }),
    message: messageExpression === "" ? undefined : yield* compiler.compile(messageExpression, "message", {}),
  };
}

/** Returns the computed message if it is one line, else the given message, else a message with the expression. */
function messageOf({ message = "", expression = "" }: Validation, computed: Result | undefined): string {
  if (typeof computed === "string") {
    const text = computed.trim();
    if (text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= messageBytesMax) return text;
  }
  return message.trim() || `failed expression: ${expression.trim()}`;
}
