import { estimateCost } from "../cost/estimate.ts";
import type { Range } from "../cost/range.ts";
import type { Environment } from "../environment.ts";
import { ProgramError } from "../evaluate/planner.ts";
import { type Compiled, CompileError, compileInSteps, Program } from "../program.ts";
import { boolType, type CelType, optionalOf, stringType } from "../types/cel-type.ts";
import { type DeclaredType, providerOf, requestBytesMax, sizeAt } from "./declared-type.ts";
import { normalizeFieldPath } from "./rule-field-path.ts";
import type { RuleSchema, ValidationRule } from "./rule-schema.ts";

/** The name of the type of self; objects below it are named after it. */
export const selfTypeName = "selfType";

/** Which environment a text is compiled in: one that was stored before may use everything. */
export interface RuleEnvironments {
  /** Returns the environment of a rule, or of a message expression, by its text. */
  environmentOf(text: string, part: "rule" | "messageExpression"): Environment;
  /** Hears how long it took to compile the rules of one node. */
  compiled?(seconds: number): void;
}

/** An expression of a rule, ready to run. */
export interface RuleProgram {
  readonly program: Program;
  /** The cost of one run, estimated by the bounds of the schema. */
  readonly estimate: Range;
}

/** A rule that is ready to run. A blank rule has neither a program nor an error. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program?: RuleProgram;
  readonly error?: string;
  readonly usesOldSelf: boolean;
  readonly message?: RuleProgram;
  readonly messageError?: string;
  /** Path of the problem, below the node. */
  readonly fieldPath?: string;
}

/** Returns the maximum number of runs of a rule inside lists or maps without a bound. */
export function unboundedCardinality(type: DeclaredType): bigint {
  return BigInt(Math.floor(requestBytesMax / (type.minSize + 1)));
}

/** Compiles the rules of one node of a schema. Yields between them, and between the phases of each. */
export function* compileRules(
  schema: RuleSchema,
  type: DeclaredType,
  environments: RuleEnvironments,
): Generator<void, CompiledRule[]> {
  const compileRule = ruleCompiler(schema, type, environments);
  const compiled: CompiledRule[] = [];
  for (const rule of schema["x-kubernetes-validations"] ?? []) {
    if (compiled.length > 0) yield;
    compiled.push(yield* compileRule(rule));
  }
  return compiled;
}

/** Returns a function that compiles a rule of one node of a schema. */
export function ruleCompiler(
  schema: RuleSchema,
  type: DeclaredType,
  environments: RuleEnvironments,
): (rule: ValidationRule) => Generator<void, CompiledRule> {
  const provider = providerOf(type);
  return (rule) => {
    const oldSelf = rule.optionalOldSelf === true ? optionalOf(type.cel) : type.cel;
    const variables = new Map([
      ["self", type.cel],
      ["oldSelf", oldSelf],
    ]);
    const extended = (environment: Environment) => environment.extend({ variables, provider });
    return compileRule(rule, schema, type, (text, part) => extended(environments.environmentOf(text, part)));
  };
}

function* compileRule(
  rule: ValidationRule,
  schema: RuleSchema,
  type: DeclaredType,
  environmentOf: RuleEnvironments["environmentOf"],
): Generator<void, CompiledRule> {
  const path = rule.fieldPath === undefined ? undefined : normalizeFieldPath(rule.fieldPath, schema);
  const base = { rule, usesOldSelf: false, ...(path === undefined || path === "" ? {} : { fieldPath: path }) };
  if (rule.rule.trim() === "") return { rule, usesOldSelf: false };
  const main = yield* compileExpression(
    rule.rule,
    environmentOf(rule.rule, "rule"),
    type,
    "",
    boolType,
    "cel expression must evaluate to a bool",
  );
  if (typeof main === "string") return { ...base, error: main };
  const compiled = { ...base, program: main, usesOldSelf: usesName(main.compiled, "oldSelf") };
  const { messageExpression } = rule;
  if (messageExpression === undefined || messageExpression === "") return compiled;
  const notText = "messageExpression must evaluate to a string";
  const environment = environmentOf(messageExpression, "messageExpression");
  yield;
  const message = yield* compileExpression(
    messageExpression,
    environment,
    type,
    "messageExpression ",
    stringType,
    notText,
  );
  return typeof message === "string" ? { ...compiled, messageError: message } : { ...compiled, message };
}

/** Returns a program, or what is wrong with the expression. */
function* compileExpression(
  text: string,
  environment: Environment,
  self: DeclaredType,
  subject: string,
  expected: CelType,
  refusal: string,
): Generator<void, (RuleProgram & { readonly compiled: Compiled }) | string> {
  try {
    const compiled = yield* compileInSteps(text, environment);
    yield;
    if (compiled.type.kind !== expected.kind || compiled.type.nullable) return refusal;
    const program = Program.of(compiled);
    yield;
    return { program, estimate: estimateCost(compiled.checked, (path) => sizeAt(self, path)), compiled };
  } catch (error) {
    if (error instanceof CompileError) return `${subject}compilation failed: ${error.message}`;
    if (error instanceof ProgramError) {
      return `${subject === "" ? "program" : "messageExpression"} instantiation failed: ${error.message}`;
    }
    throw error;
  }
}

function usesName(compiled: Compiled, name: string): boolean {
  for (const reference of compiled.checked.references.values()) {
    if (reference.kind === "name" && reference.name === name) return true;
  }
  return false;
}
