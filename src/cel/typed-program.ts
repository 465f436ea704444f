import { atOnce } from "../process/sliced.ts";
import type { Environment } from "./environment.ts";
import { ProgramError } from "./evaluate/planner.ts";
import { type Compiled, CompileError, compileInSteps, Program } from "./program.ts";
import { type CelType, sameType, typeText } from "./types/cel-type.ts";

/** An expression whose result is of a type that its place of use expects. */
export interface TypedProgram {
  readonly text: string;
  readonly compiled: Compiled;
  readonly program: Program;
}

/** Explains why an expression cannot be used in its place. */
export class ExpressionProblem extends Error {
  override readonly name = "ExpressionProblem";
}

/**
 * Compiles an expression.
 * @param expected the types that the result may have; empty for any
 * @throws ExpressionProblem
 */
export function compileTyped(text: string, environment: Environment, expected: readonly CelType[]): TypedProgram {
  return atOnce(compileTypedInSteps(text, environment, expected));
}

/** Compiles an expression, and yields between the phases. @throws ExpressionProblem */
export function* compileTypedInSteps(
  text: string,
  environment: Environment,
  expected: readonly CelType[],
): Generator<void, TypedProgram> {
  try {
    const compiled = yield* compileInSteps(text, environment);
    yield;
    const problem = typeProblem(compiled.type, expected);
    if (problem !== undefined) throw new ExpressionProblem(problem);
    return { text, compiled, program: Program.of(compiled) };
  } catch (error) {
    if (error instanceof CompileError) throw new ExpressionProblem(`compilation failed: ${error.message}`);
    if (error instanceof ProgramError) throw new ExpressionProblem(`program instantiation failed: ${error.message}`);
    throw error;
  }
}

function typeProblem(type: CelType, expected: readonly CelType[]): string | undefined {
  if (expected.length === 0 || expected.some((one) => sameType(one, type))) return undefined;
  const texts = expected.map(typeText);
  const wanted = texts.length === 1 ? texts[0] : `one of [${texts.join(" ")}]`;
  return `must evaluate to ${wanted} but got ${typeText(type)}`;
}
