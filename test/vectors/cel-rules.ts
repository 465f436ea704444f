import { fieldErrorText } from "../../src/api/field-error.ts";
import type { JsonValue } from "../../src/api/json.ts";
import { readOpenApiSchema } from "../../src/api/structural/open-api-schema.ts";
import { objectCostMax } from "../../src/cel/limits.ts";
import { declareType } from "../../src/cel/schema/declared-type.ts";
import { compileRules, selfTypeName, unboundedCardinality } from "../../src/cel/schema/rule.ts";
import { type RuleProblem, toFieldError } from "../../src/cel/schema/rule-problem.ts";
import { type RuleSchema, valuesSchema } from "../../src/cel/schema/rule-schema.ts";
import { makeRuleValidator, runRules } from "../../src/cel/schema/rule-validator.ts";
import type { Json } from "../../src/cel/values/json-value.ts";
import { storedEnvironment } from "../../src/cel/versions.ts";
import { validateDefinitionSchema } from "../../src/kinds/apiextensions/validation/definition-schema.ts";
import { allRequired } from "../../src/kinds/apiextensions/validation/schema-ratchets.ts";
import { atOnce } from "../../src/process/sliced.ts";
import type { Difference } from "./difference.ts";

interface WrittenProblem {
  readonly type: string;
  readonly field: string;
  readonly detail: string;
  readonly text: string;
}

/** A schema with rules, the reference's verdict on it, and objects for the rules. */
export interface RuleCase {
  readonly name: string;
  readonly schema: RuleSchema;
  readonly rule?: string;
  readonly at?: string;
  readonly estimate?: readonly [string, string];
  readonly unboundedCardinality?: string;
  readonly messageEstimateMax?: string;
  readonly usesOldSelf?: boolean;
  readonly compileError?: string;
  readonly crdErrors: readonly WrittenProblem[];
  readonly orderVaries?: boolean;
  readonly errorCount?: number;
  readonly runs?: readonly RuleCaseRun[];
}

interface RuleCaseRun {
  readonly object: Json;
  readonly oldObject?: Json;
  readonly errors: readonly WrittenProblem[];
  readonly cost: number;
  readonly costRange?: readonly [number, number];
}

const parentPath = "spec.validation";
const environments = { environmentOf: () => storedEnvironment() };

export function compareRule(vector: RuleCase): readonly Difference[] {
  const differences: Difference[] = [];
  const differ = (aspect: string, expected: unknown, actual: unknown) => {
    if (JSON.stringify(expected) !== JSON.stringify(actual))
      differences.push({ name: vector.name, aspect, expected, actual });
  };
  if (vector.at !== undefined) compareCompilation(vector, vector.at, differ);
  compareDefinition(vector, differ);
  const validator = makeRuleValidator(vector.schema, environments);
  for (const [at, run] of (vector.runs ?? []).entries()) {
    if (validator === undefined) continue;
    const { errors, budget } = atOnce(runRules(validator, run.object, run.oldObject));
    // The vectors omit long texts.
    const isLong = run.errors.some(({ text }) => text === "");
    const actual = errors.map(written).map((error) => (isLong ? { ...error, text: "" } : error));
    differ(`run ${at} errors`, sorted(run.errors.map(shown)), sorted(actual.map(shown)));
    const cost = objectCostMax - budget;
    const [least, most] = run.costRange ?? [run.cost, run.cost];
    if (budget >= 0 && (cost < least || cost > most)) differ(`run ${at} cost`, run.costRange ?? run.cost, cost);
  }
  return differences;
}

type Differ = (aspect: string, expected: unknown, actual: unknown) => void;

/** Compares the known facts about the rule itself. */
function compareCompilation(vector: RuleCase, path: string, differ: Differ): void {
  const node = schemaAt(vector.schema, path);
  const type = declareType(node, false, selfTypeName);
  if (type === undefined) return;
  const [compiled] = atOnce(compileRules(node, type, environments));
  if (compiled === undefined) return;
  const isBlank = compiled.program === undefined && compiled.error === undefined;
  differ("compileError", vector.compileError, isBlank ? "empty rule" : compiled.error);
  if (vector.estimate === undefined) return;
  const estimate = compiled.program?.estimate;
  differ(
    "estimate",
    vector.estimate,
    estimate === undefined ? undefined : [String(estimate.min), String(estimate.max)],
  );
  differ("unboundedCardinality", vector.unboundedCardinality, String(unboundedCardinality(type)));
  differ("usesOldSelf", vector.usesOldSelf ?? false, compiled.usesOldSelf);
  const message = compiled.message?.estimate.max;
  differ("messageEstimateMax", vector.messageEstimateMax, message === undefined ? undefined : String(message));
}

function schemaAt(root: RuleSchema, path: string): RuleSchema {
  let schema = root;
  for (const [, name, below] of path.matchAll(/([^.[\]]+)|(\[\*\])/g)) {
    const next = below === undefined ? schema.properties?.[name ?? ""] : (schema.items ?? valuesSchema(schema));
    if (next === undefined) throw new Error(`no schema at ${path}`);
    schema = next;
  }
  return schema;
}

function compareDefinition({ schema, crdErrors, errorCount }: RuleCase, differ: Differ): void {
  const nothing = { rule: new Set<string>(), messageExpression: new Set<string>() };
  const steps = validateDefinitionSchema(readOpenApiSchema(schema as JsonValue) ?? {}, {
    path: parentPath,
    hasStatus: false,
    ratchets: allRequired,
    requiresStructural: true,
    stored: nothing,
    ignoresRuleCosts: false,
  });
  let step = steps.next();
  while (!step.done) step = steps.next();
  const actual = step.value.map((error) => {
    const detail = error.message.slice(error.message.indexOf(": ") + 2).replaceAll(/selfType[0-9]+/g, "selfType");
    return { type: error.reason, field: error.field.replace(`${parentPath}.openAPIV3Schema.`, ""), detail };
  });
  const matches = (expected: WrittenProblem, found: (typeof actual)[number]) =>
    found.type === expected.type && found.field === expected.field && found.detail.endsWith(expected.detail);
  const missing = crdErrors.filter((expected) => !actual.some((found) => matches(expected, found)));
  differ("crdErrors", [], missing);
  differ("errorCount", errorCount ?? crdErrors.length, actual.length);
}

function written(problem: RuleProblem): WrittenProblem {
  const error = toFieldError(problem);
  return { type: error.reason, field: problem.field, detail: problem.detail, text: fieldErrorText(error) };
}

function shown({ type, field, detail, text }: WrittenProblem): string {
  return JSON.stringify([type, field, detail, text]);
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...texts].sort();
}
