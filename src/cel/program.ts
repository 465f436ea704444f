import { atOnce } from "../process/sliced.ts";
import type { Environment } from "./environment.ts";
import { type Activation, Frame } from "./evaluate/frame.ts";
import { beginStretch, EvaluationPaused } from "./evaluate/pause.ts";
import { type Plan, plan } from "./evaluate/planner.ts";
import { isCrossTypeComparison } from "./library/standard.ts";
import { CostLimitExceeded, costLimitMessage, costPerCallMax, resetWork } from "./limits.ts";
import type { Expr } from "./syntax/ast.ts";
import { parse } from "./syntax/parser.ts";
import type { Issue } from "./syntax/source.ts";
import { type CelType, dynType } from "./types/cel-type.ts";
import { type Checked, check } from "./types/checker.ts";
import { checkLiterals } from "./types/literal-checks.ts";
import { EvaluationError, isError, type Value } from "./values/value.ts";

/** An expression that passed the parser and the checker. */
export interface Compiled {
  readonly environment: Environment;
  readonly checked: Checked;
  readonly type: CelType;
}

/** Why an expression does not compile. */
export class CompileError extends Error {
  readonly issues: readonly Issue[];

  /** @param text what clients see: each issue with its line */
  constructor(text: string, issues: readonly Issue[]) {
    super(text);
    this.name = "CompileError";
    this.issues = issues;
  }
}

/** @throws CompileError */
export function compile(text: string, environment: Environment): Compiled {
  return atOnce(compileInSteps(text, environment));
}

/** Yields between its phases: text of 50 KB takes tens of milliseconds in each. @throws CompileError */
export function* compileInSteps(text: string, environment: Environment): Generator<void, Compiled> {
  const { expr, issues } = parse(text, environment);
  if (!issues.isEmpty) throw new CompileError(issues.text(), issues.sorted());
  yield;
  const { scope, provider, functions, crossTypeComparison } = environment;
  const declarations = {
    scope,
    findFunction: (name: string) => {
      for (const candidate of environment.candidates(name)) {
        const found = functions.get(candidate);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    isDisabled: (overloadId: string) => !crossTypeComparison && isCrossTypeComparison(overloadId),
    findStruct: (name: string) => provider.findStruct(name),
    findField: (name: string, field: string) => provider.findField(name, field),
  };
  const checked = check(expr, declarations, issues);
  yield;
  if (issues.isEmpty) checkLiterals(checked, environment.checks, issues);
  if (!issues.isEmpty) throw new CompileError(issues.text(), issues.sorted());
  return { environment, checked, type: checked.types.get(checked.expr.id) ?? dynType };
}

/**
 * Parses without a check of types; calls and names are resolved by the values.
 * @throws CompileError
 */
export function parseOnly(text: string, environment: Environment): Expr {
  const { expr, issues } = parse(text, environment);
  if (!issues.isEmpty) throw new CompileError(issues.text(), issues.sorted());
  return expr;
}

/** The outcome of one evaluation. An evaluation that fails has cost something too. */
export interface Outcome {
  readonly value: Value | EvaluationError;
  readonly cost: number;
}

/** Something that can be evaluated any number of times. */
export class Program {
  readonly #plan: Plan;

  private constructor(made: Plan) {
    this.#plan = made;
  }

  /** @throws ProgramError */
  static of({ checked, environment }: Compiled): Program {
    return new Program(plan(checked.expr, checked.references, environment));
  }

  /** @throws ProgramError */
  static ofParsed(expr: Expr, environment: Environment): Program {
    return new Program(plan(expr, undefined, environment));
  }

  /** Evaluates with the values of an activation, at once. Costs more than the limit end as an error. */
  evaluate(activation: Activation, limit: number = costPerCallMax): Outcome {
    return this.#run(new Frame(activation, this.#plan.slotCount, limit), false);
  }

  /** Prepares to evaluate in stretches that do not hold the event loop for long. */
  start(activation: Activation, limit: number = costPerCallMax): Run {
    const frame = new Frame(activation, this.#plan.slotCount, limit);
    return new Run(frame, () => this.#run(frame, true));
  }

  /** @throws EvaluationPaused */
  #run(frame: Frame, canPause: boolean): Outcome {
    const isOutermost = enter(canPause);
    try {
      const value = this.#plan.step.run(frame);
      return { value, cost: frame.cost };
    } catch (error) {
      if (error instanceof CostLimitExceeded) return { value: new EvaluationError(costLimitMessage), cost: frame.cost };
      if (error instanceof RangeError)
        return { value: new EvaluationError("expression is nested too deeply"), cost: frame.cost };
      throw error;
    } finally {
      if (isOutermost) depth = 0;
    }
  }
}

/** An evaluation in stretches. */
export class Run {
  readonly #frame: Frame;
  readonly #run: () => Outcome;
  #hasBegun = false;

  constructor(frame: Frame, run: () => Outcome) {
    this.#frame = frame;
    this.#run = run;
  }

  /** Evaluates to the end. Yields between stretches. */
  *inStretches(): Generator<undefined, Outcome> {
    for (;;) {
      try {
        return this.finish();
      } catch (error) {
        if (!(error instanceof EvaluationPaused)) throw error;
      }
      yield;
    }
  }

  /**
   * Evaluates as a part of another evaluation.
   * @throws EvaluationPaused; call it again when the other evaluation continues
   */
  finish(): Outcome {
    if (this.#hasBegun) this.#frame.repeat();
    this.#hasBegun = true;
    return this.#run();
  }
}

let depth = 0;

/** Reports whether no other evaluation is going on, and begins a new allowance of work and time if so. */
function enter(canPause: boolean): boolean {
  if (depth > 0) return false;
  depth = 1;
  resetWork();
  beginStretch(canPause);
  return true;
}

export function isFailure(outcome: Outcome): outcome is Outcome & { readonly value: EvaluationError } {
  return isError(outcome.value);
}
