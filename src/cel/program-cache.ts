import type { Environment } from "./environment.ts";
import { ProgramError } from "./evaluate/planner.ts";
import { type Compiled, CompileError, compile, Program } from "./program.ts";

/** An expression that is ready to run, or why it is not. */
export type CachedProgram =
  | { readonly kind: "ready"; readonly compiled: Compiled; readonly program: Program }
  | { readonly kind: "failed"; readonly error: CompileError | ProgramError };

/** Number of programs at which a cache drops the less recently used half. */
const programsKeptMax = 4_096;

/** Keeps compiled programs by environment and text, so that an expression is compiled once however often it is used. */
export class ProgramCache {
  readonly #keptMax: number;
  #recent = new Map<Environment, Map<string, CachedProgram>>();
  #former = new Map<Environment, Map<string, CachedProgram>>();
  #recentCount = 0;

  constructor(keptMax: number = programsKeptMax) {
    this.#keptMax = keptMax;
  }

  get(text: string, environment: Environment): CachedProgram {
    const known = this.#recent.get(environment)?.get(text);
    if (known !== undefined) return known;
    const cached = this.#former.get(environment)?.get(text) ?? make(text, environment);
    this.#keep(text, environment, cached);
    return cached;
  }

  #keep(text: string, environment: Environment, cached: CachedProgram): void {
    if (this.#recentCount >= this.#keptMax / 2) {
      this.#former = this.#recent;
      this.#recent = new Map();
      this.#recentCount = 0;
    }
    const programs = this.#recent.get(environment) ?? new Map<string, CachedProgram>();
    programs.set(text, cached);
    this.#recent.set(environment, programs);
    this.#recentCount++;
  }
}

function make(text: string, environment: Environment): CachedProgram {
  try {
    const compiled = compile(text, environment);
    return { kind: "ready", compiled, program: Program.of(compiled) };
  } catch (error) {
    if (error instanceof CompileError || error instanceof ProgramError) return { kind: "failed", error };
    throw error;
  }
}
