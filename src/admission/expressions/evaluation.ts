import {
  type Activation,
  EvaluationError,
  isError,
  type Json,
  jsonValue,
  type Program,
  type Result,
  type Run,
  type TypedProgram,
  type Value,
  ValueMap,
} from "../../cel/index.ts";
import type { CompiledVariable } from "../../kinds/admissionregistration/expressions/composition.ts";
import type { EvaluationSteps } from "./access-checks.ts";
import type { RequestValues } from "./request-values.ts";

/** The most that the expressions of one evaluation may cost together. */
export const evaluationCostMax = 10_000_000;
/** The same for match conditions. */
export const conditionsCostMax = evaluationCostMax / 4;

/** An expression that is stored. One that does not compile any more fails when it is evaluated. */
export type StoredExpression =
  | { readonly kind: "ready"; readonly program: TypedProgram }
  | { readonly kind: "failed"; readonly problem: string };

/** Ends an evaluation whose expressions cost too much together. */
export class OutOfBudget extends Error {
  override readonly name = "OutOfBudget";

  constructor() {
    super("validation failed due to running out of cost budget, no further validation rules will be run");
  }
}

const noVariables: ReadonlyMap<string, CompiledVariable> = new Map();

export interface EvaluationOptions {
  readonly variables?: ReadonlyMap<string, CompiledVariable>;
  /** The policy's parameter: null if the binding names none, undefined if the policy takes none. */
  readonly params?: Json | undefined;
  readonly budget: number;
}

/** Evaluates several expressions about one request. Variables are evaluated at most once, when they are first used. */
export class Evaluation implements Activation {
  readonly #values: RequestValues;
  readonly #compiled: ReadonlyMap<string, CompiledVariable>;
  #variables: Variables | undefined;
  readonly #params: Value | undefined;
  #budget: number;
  /** The cost of variables since it was last taken from the budget. */
  #variableCost = 0;
  /** Variables whose evaluation has begun and not ended. */
  #variableRuns: Map<Program, Run> | undefined;

  constructor(values: RequestValues, { variables = noVariables, params, budget }: EvaluationOptions) {
    this.#values = values;
    this.#params = params === undefined ? undefined : jsonValue(params);
    this.#budget = budget;
    this.#compiled = variables;
  }

  get budget(): number {
    return this.#budget;
  }

  resolve(name: string): Result | undefined {
    if (name === "variables") {
      this.#variables ??= new Variables(this.#compiled, (program) => this.#runVariable(program));
      return this.#variables;
    }
    if (name === "params") return this.#params;
    return this.#values.find(name);
  }

  /** Returns the value, or the error that this expression ends with. Yields when it takes long. @throws OutOfBudget */
  *run(expression: StoredExpression): EvaluationSteps<Result> {
    if (expression.kind === "failed") return new EvaluationError(`compilation error: ${expression.problem}`);
    const { program, text } = expression.program;
    const { value, cost } = yield* program.start(this).inStretches();
    this.#charge(this.#variableCost);
    this.#variableCost = 0;
    this.#charge(cost);
    return isError(value) ? new EvaluationError(`expression '${text}' resulted in error: ${value.message}`) : value;
  }

  #charge(cost: number): void {
    if (cost > this.#budget) throw new OutOfBudget();
    this.#budget -= cost;
  }

  /** @throws EvaluationPaused, as a part of the expression that uses the variable */
  #runVariable({ program }: TypedProgram): Result {
    this.#variableRuns ??= new Map();
    const run = this.#variableRuns.get(program) ?? program.start(this);
    this.#variableRuns.set(program, run);
    const { value, cost } = run.finish();
    this.#variableRuns.delete(program);
    this.#variableCost += cost;
    return value;
  }
}

/** The value of `variables`. */
class Variables extends ValueMap {
  readonly #compiled: ReadonlyMap<string, CompiledVariable>;
  readonly #run: (program: TypedProgram) => Result;
  readonly #results = new Map<string, Result>();

  constructor(compiled: ReadonlyMap<string, CompiledVariable>, run: (program: TypedProgram) => Result) {
    super();
    this.#compiled = compiled;
    this.#run = run;
  }

  get size(): number {
    return this.#compiled.size;
  }

  find(key: Value): Result | undefined {
    if (typeof key !== "string") return undefined;
    const known = this.#results.get(key);
    if (known !== undefined) return known;
    const variable = this.#compiled.get(key);
    if (variable === undefined) return undefined;
    const result = this.#evaluate(key, variable);
    this.#results.set(key, result);
    return result;
  }

  keys(): Iterable<string> {
    return this.#compiled.keys();
  }

  #evaluate(name: string, variable: CompiledVariable): Result {
    const subject = `composited variable ${JSON.stringify(name)} fails to`;
    if (variable.kind === "failed") return new EvaluationError(`${subject} compile: ${variable.problem}`);
    const result = this.#run(variable.program);
    return isError(result) ? new EvaluationError(`${subject} evaluate: ${result.message}`) : result;
  }
}
