import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { estimateCost } from "../../src/cel/cost/estimate.ts";
import type { Environment } from "../../src/cel/environment.ts";
import { ProgramError } from "../../src/cel/evaluate/planner.ts";
import { authorizerType, resourceCheckType } from "../../src/cel/library/authorizer.ts";
import { CompileError, compile, type Outcome, Program, parseOnly } from "../../src/cel/program.ts";
import type { CelType } from "../../src/cel/types/cel-type.ts";
import { typeText } from "../../src/cel/types/cel-type.ts";
import { type FunctionDeclaration, overload } from "../../src/cel/types/declarations.ts";
import { isError, type Value } from "../../src/cel/values/value.ts";
import { storedEnvironment } from "../../src/cel/versions.ts";
import { compareRule, type RuleCase } from "./cel-rules.ts";
import {
  canonicalText,
  type DeclaredType,
  readDeclaredType,
  readType,
  readValue,
  type WrittenValue,
  writeValue,
} from "./cel-values.ts";
import type { Difference } from "./difference.ts";
import { fakeAuthorizer } from "./fake-authorizer.ts";

/** The answer of the reference. */
export interface ExpectedResult {
  readonly compiles: boolean;
  readonly type?: string;
  readonly issues?: readonly { readonly line: number; readonly column: number; readonly message: string }[];
  readonly compileError?: string;
  readonly programError?: string;
  readonly estimate?: readonly [string, string];
  readonly value?: WrittenValue;
  readonly error?: string;
  readonly cost?: number;
  readonly costRange?: readonly [number, number];
  readonly varies?: boolean;
}

interface ConformanceCase {
  readonly name: string;
  readonly expr: string;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly disableMacros?: boolean;
  readonly typeEnv?: readonly DeclaredName[];
  readonly bindings?: Readonly<Record<string, WrittenValue>>;
  readonly k8s: ExpectedResult;
}

interface DeclaredName {
  readonly name: string;
  readonly type?: string;
  readonly function?: DeclaredFunction;
}

/** A function without implementation. */
interface DeclaredFunction {
  readonly overloads: readonly {
    readonly overloadId: string;
    readonly params: readonly DeclaredType[];
    readonly resultType: DeclaredType;
  }[];
}

interface LibraryCase extends ExpectedResult {
  readonly name: string;
  readonly expr: string;
  readonly env?: "vars" | "authz";
}

interface VariableCase {
  readonly name: string;
  readonly type: string;
  readonly value: WrittenValue;
}

export interface FileReport {
  readonly file: string;
  readonly total: number;
  readonly equal: number;
  readonly differences: readonly Difference[];
}

/** Replays all vector files of a directory, packed or not, and compares every answer. */
export function runCelVectors(directory: string): FileReport[] {
  const variables = readJson<readonly VariableCase[]>(directory, "variables.json") ?? [];
  const environments = libraryEnvironments(variables);
  const reports: FileReport[] = [];
  const add = <T extends { readonly name: string }>(file: string, compare: (vector: T) => readonly Difference[]) => {
    const text = readText(directory, file);
    if (text !== undefined) reports.push(compareAll(file, text, compare));
  };
  add<ConformanceCase>("conformance.jsonl", compareConformance);
  add<LibraryCase>("library.jsonl", (vector) => {
    const { environment, values } = environments(vector.env);
    return compareExpression(vector.name, vector, evaluateCase(vector.expr, environment, values));
  });
  add<RuleCase>("cost.jsonl", compareRule);
  return reports;
}

function compareAll<T extends { readonly name: string }>(
  file: string,
  text: string,
  compare: (vector: T) => readonly Difference[],
): FileReport {
  const differences: Difference[] = [];
  let total = 0;
  let equal = 0;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const vector = JSON.parse(line) as T;
    total++;
    const found = guarded(vector, compare);
    if (found.length === 0) equal++;
    differences.push(...found);
  }
  return { file, total, equal, differences };
}

function guarded<T extends { readonly name: string }>(
  vector: T,
  compare: (vector: T) => readonly Difference[],
): readonly Difference[] {
  try {
    return compare(vector);
  } catch (error) {
    const actual = error instanceof Error ? error.stack : String(error);
    return [{ name: vector.name, aspect: "crash", expected: undefined, actual }];
  }
}

function readText(directory: string, file: string): string | undefined {
  const path = join(directory, file);
  if (existsSync(path)) return readFileSync(path, "utf8");
  return existsSync(`${path}.gz`) ? gunzipSync(readFileSync(`${path}.gz`)).toString() : undefined;
}

function readJson<T>(directory: string, file: string): T | undefined {
  const text = readText(directory, file);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

interface Place {
  readonly environment: Environment;
  readonly values: ReadonlyMap<string, Value>;
}

function libraryEnvironments(variables: readonly VariableCase[]): (name: "vars" | "authz" | undefined) => Place {
  const base = storedEnvironment();
  const types = variables.map(({ name, type }) => [name, readType(type)] as const);
  const values = new Map(variables.map(({ name, value }) => [name, readValue(value)] as const));
  const withVariables = { environment: base.extend({ variables: new Map(types) }), values };
  const { authorizer, requestResource } = fakeAuthorizer();
  const authorizerTypes = new Map<string, CelType>([
    ["authorizer", authorizerType],
    ["authorizer.requestResource", resourceCheckType],
  ]);
  const authorizerValues = new Map<string, Value>([
    ["authorizer", authorizer],
    ["authorizer.requestResource", requestResource],
  ]);
  const withAuthorizer = { environment: base.extend({ variables: authorizerTypes }), values: authorizerValues };
  const plain = { environment: base, values: new Map<string, Value>() };
  return (name) => (name === "vars" ? withVariables : name === "authz" ? withAuthorizer : plain);
}

function declareFunction(name: string, declared: DeclaredFunction): FunctionDeclaration {
  const overloads = declared.overloads.map(({ overloadId, params, resultType }) =>
    overload(overloadId, params.map(readDeclaredType), readDeclaredType(resultType)),
  );
  return { name, overloads };
}

function compareConformance(vector: ConformanceCase): readonly Difference[] {
  const declared = vector.typeEnv ?? [];
  const functions = declared.flatMap((item) =>
    item.function === undefined ? [] : [declareFunction(item.name, item.function)],
  );
  const environment = storedEnvironment().extend({
    variables: new Map(
      declared.flatMap(({ name, type }) => (type === undefined ? [] : [[name, readType(type)] as const])),
    ),
    ...(functions.length === 0 ? {} : { libraries: [{ functions }] }),
    container: vector.container ?? "",
  });
  const values = new Map(Object.entries(vector.bindings ?? {}).map(([name, value]) => [name, readValue(value)]));
  const actual = vector.disableCheck
    ? evaluateUnchecked(vector.expr, environment, values)
    : evaluateCase(vector.expr, environment, values);
  return compareExpression(vector.name, vector.k8s, actual);
}

function evaluateCase(expr: string, environment: Environment, values: ReadonlyMap<string, Value>): ExpectedResult {
  try {
    const compiled = compile(expr, environment);
    const { min, max } = estimateCost(compiled.checked);
    const compiledPart = {
      compiles: true,
      type: typeText(compiled.type),
      estimate: [String(min), String(max)] as const,
    };
    return { ...compiledPart, ...run(() => Program.of(compiled), values) };
  } catch (error) {
    if (error instanceof CompileError) return { compiles: false, issues: error.issues, compileError: error.message };
    throw error;
  }
}

function evaluateUnchecked(expr: string, environment: Environment, values: ReadonlyMap<string, Value>): ExpectedResult {
  try {
    const parsed = parseOnly(expr, environment);
    return { compiles: true, ...run(() => Program.ofParsed(parsed, environment), values) };
  } catch (error) {
    if (error instanceof CompileError) return { compiles: false, issues: error.issues, compileError: error.message };
    throw error;
  }
}

function run(make: () => Program, values: ReadonlyMap<string, Value>): Partial<ExpectedResult> {
  try {
    const outcome: Outcome = make().evaluate({ resolve: (name) => values.get(name) });
    const cost = { cost: outcome.cost };
    return isError(outcome.value)
      ? { error: outcome.value.message, ...cost }
      : { value: writeValue(outcome.value), ...cost };
  } catch (error) {
    if (error instanceof ProgramError) return { programError: error.message };
    throw error;
  }
}

const textAspects = ["compiles", "type", "compileError", "programError", "error"] as const;

function compareExpression(name: string, expected: ExpectedResult, actual: ExpectedResult): Difference[] {
  const differences: Difference[] = [];
  const differ = (aspect: string, wanted: unknown, got: unknown) =>
    differences.push({ name, aspect, expected: wanted, actual: got });
  for (const aspect of textAspects) {
    if (expected[aspect] !== actual[aspect]) differ(aspect, expected[aspect], actual[aspect]);
  }
  if (JSON.stringify(expected.issues) !== JSON.stringify(actual.issues))
    differ("issues", expected.issues, actual.issues);
  if (JSON.stringify(expected.estimate) !== JSON.stringify(actual.estimate)) {
    differ("estimate", expected.estimate, actual.estimate);
  }
  const write = (value: WrittenValue | undefined) =>
    value === undefined ? undefined : canonicalText(value, expected.varies === true);
  if (write(expected.value) !== write(actual.value)) differ("value", expected.value, actual.value);
  if (!costsAgree(expected, actual.cost)) differ("cost", expected.costRange ?? expected.cost, actual.cost);
  return differences;
}

function costsAgree({ cost, costRange }: ExpectedResult, actual: number | undefined): boolean {
  if (costRange === undefined) return cost === actual;
  return actual !== undefined && actual >= costRange[0] && actual <= costRange[1];
}
