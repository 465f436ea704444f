import { addCapped, multiplyCapped } from "../cost/range.ts";
import { ruleCostMax, totalRuleCostMax } from "../limits.ts";
import { type DeclaredType, declareType } from "./declared-type.ts";
import { type CompiledRule, type RuleEnvironments, ruleCompiler, selfTypeName, unboundedCardinality } from "./rule.ts";
import { normalizeFieldPath } from "./rule-field-path.ts";
import { fieldPath, type RuleProblem } from "./rule-problem.ts";
import { type RuleSchema, shownRule, type ValidationRule } from "./rule-schema.ts";

/** Rules that are blamed for a total that is too high. */
const blamedRulesMax = 4;
const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"] as const;

/** The position of a node in a schema. */
export interface RulePlace {
  readonly path: string;
  /** How often a value here may occur; undefined where nothing bounds it. */
  readonly cardinality: bigint | undefined;
  /** The enclosing part of the schema whose old and new values cannot be correlated; undefined if there is none. */
  readonly uncorrelatable: string | undefined;
}

/** Returns the place of a schema as a whole. */
export function rootPlace(path: string): RulePlace {
  return { path, cardinality: 1n, uncorrelatable: undefined };
}

/** Returns the place of a node directly inside of another one. */
export function placeBelow(
  { path, cardinality, uncorrelatable }: RulePlace,
  schema: RuleSchema,
  child: "properties" | "items" | "additionalProperties",
  name?: string,
): RulePlace {
  const isUncorrelatable =
    (child === "properties" && !isCorrelatableMap(schema)) ||
    (child === "items" && schema["x-kubernetes-list-type"] !== "map");
  return {
    path: name === undefined ? `${path}.${child}` : `${path}.${child}[${name}]`,
    cardinality: multiplied(cardinality, elementsMax(schema)),
    uncorrelatable: isUncorrelatable ? (uncorrelatable ?? path) : uncorrelatable,
  };
}

/** Reports what is wrong with the form of a rule. @param path of the rule */
export function ruleFormProblems(rule: ValidationRule, schema: RuleSchema, path: string): RuleProblem[] {
  const problems: RuleProblem[] = [];
  const report = (kind: RuleProblem["kind"], name: string, detail: string, value?: string) =>
    problems.push({ kind, field: `${path}.${name}`, detail, ...(value === undefined ? {} : { value }) });
  const { message = "", messageExpression = "", fieldPath: target = "", reason } = rule;
  if (rule.rule.trim() === "") report("Required", "rule", "rule is not specified");
  else if (message !== "" && message.trim() === "") {
    report("Invalid", "message", "must be non-empty if specified", message);
  } else if (hasLineBreak(message.trim())) report("Invalid", "message", "must not contain line breaks", message);
  else if (hasLineBreak(rule.rule.trim()) && message.trim() === "") {
    report("Required", "message", "message must be specified if rule contains line breaks");
  }
  if (messageExpression !== "" && messageExpression.trim() === "") {
    report("Required", "messageExpression", "messageExpression must be non-empty if specified");
  }
  if (reason !== undefined && !reasons.some((known) => known === reason)) {
    const supported = reasons.map((known) => JSON.stringify(known)).join(", ");
    report("NotSupported", "reason", `supported values: ${supported}`, reason);
  }
  if (target === "") return problems;
  if (target.trim() === "") report("Invalid", "fieldPath", "must be non-empty if specified", target);
  if (hasLineBreak(target)) report("Invalid", "fieldPath", "must not contain line breaks", target);
  if (normalizeFieldPath(target, schema) === undefined) {
    report("Invalid", "fieldPath", "must be a valid path", target);
  }
  return problems;
}

interface RuleCost {
  readonly path: string;
  readonly cost: bigint;
}

export interface NodeCheckOptions {
  /** The node is a resource: it has apiVersion, kind and metadata, declared or not. */
  readonly isResource: boolean;
  /** Name of the type of self in messages; `selfType` by default. */
  readonly typeName?: string;
  /** Accepts rules of any cost, for an update that does not change the schema. */
  readonly ignoresRuleCosts?: boolean;
}

/** Checks the rules of one version of a definition: that they compile, mean something, and do not cost too much. */
export class RuleChecker {
  readonly #environments: RuleEnvironments;
  #total = 0n;
  #mostExpensive: RuleCost[] = [];

  constructor(environments: RuleEnvironments) {
    this.#environments = environments;
  }

  /** Checks the rules of one node, whose form is right. Yields after each of them. */
  *checkNode(schema: RuleSchema, place: RulePlace, options: NodeCheckOptions): Generator<void, RuleProblem[]> {
    const rules = schema["x-kubernetes-validations"] ?? [];
    if (rules.length === 0) return [];
    const type = declareType(schema, options.isResource, options.typeName ?? selfTypeName);
    if (type === undefined) {
      const field = `${place.path}.x-kubernetes-validations`;
      return [{ kind: "InternalError", field, detail: noTypeText }];
    }
    const compileRule = ruleCompiler(schema, type, this.#environments);
    const problems: RuleProblem[] = [];
    for (const [at, rule] of rules.entries()) {
      problems.push(...this.#checkCompiled(yield* compileRule(rule), type, place, rulePath(place, at), options));
      yield;
    }
    return problems;
  }

  #checkCompiled(
    compiled: CompiledRule,
    type: DeclaredType,
    place: RulePlace,
    path: string,
    options: NodeCheckOptions,
  ): RuleProblem[] {
    const problems: RuleProblem[] = [];
    const report = (kind: RuleProblem["kind"], name: string, detail: string, value?: RuleProblem["value"]) =>
      problems.push({ kind, field: `${path}.${name}`, detail, ...(value === undefined ? {} : { value }) });
    const { rule } = compiled;
    const cost = multiplyCapped(compiled.program?.estimate.max ?? 0n, place.cardinality ?? unboundedCardinality(type));
    const check = (name: string, subject: string, cost: bigint) => {
      this.#count(`${path}.${name}`, cost);
      const isTooExpensive = cost > ruleCostMax && options.ignoresRuleCosts !== true;
      if (isTooExpensive) report("Forbidden", name, excessText(subject, cost, ruleCostMax));
    };
    check("rule", "estimated rule cost", cost);
    if (compiled.error !== undefined) report("Invalid", "rule", compiled.error, shownRule(rule));
    if (compiled.messageError !== undefined) {
      report("Invalid", "messageExpression", compiled.messageError, shownRule(rule));
    } else if (compiled.message !== undefined) {
      check("messageExpression", "estimated messageExpression cost", compiled.message.estimate.max);
    }
    if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined) {
      report("Invalid", "optionalOldSelf", "may not be set if oldSelf is not used in rule", rule.optionalOldSelf);
    }
    if (compiled.usesOldSelf && place.uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
      report("Invalid", "rule", detail, rule.rule);
    }
    return problems;
  }

  #count(path: string, cost: bigint): void {
    this.#total = addCapped(this.#total, cost);
    if (cost < totalRuleCostMax / 100n) return;
    const sorted = [...this.#mostExpensive, { path, cost }].sort((a, b) =>
      a.cost === b.cost ? 0 : a.cost > b.cost ? -1 : 1,
    );
    this.#mostExpensive = sorted.slice(0, blamedRulesMax);
  }

  /** Reports that all rules checked so far cost too much together. @param path of the schema */
  totalProblems(path: string): RuleProblem[] {
    if (this.#total <= totalRuleCostMax) return [];
    const blame = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const subject = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    const blamed = this.#mostExpensive.map(({ path: field }) => ({ kind: "Forbidden" as const, field, detail: blame }));
    return [...blamed, { kind: "Forbidden", field: path, detail: excessText(subject, this.#total, totalRuleCostMax) }];
  }
}

const noTypeText =
  "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";

function rulePath({ path }: RulePlace, at: number): string {
  return fieldPath.index(`${path}.x-kubernetes-validations`, at);
}

/** Reports whether the values of a map can be found in its old value. */
export function isCorrelatableMap(schema: RuleSchema): boolean {
  const mapType = schema["x-kubernetes-map-type"];
  return mapType === undefined || mapType === "granular" || mapType === "atomic";
}

function hasLineBreak(text: string): boolean {
  return text.includes("\n") || text.includes("\r");
}

/** Returns how many elements a value of this schema may have; undefined where nothing bounds it. */
function elementsMax(schema: RuleSchema): bigint | undefined {
  const { type, maxItems, maxProperties, additionalProperties } = schema;
  const bound = (max: number | undefined) => (max === undefined ? undefined : BigInt(Math.max(0, max)));
  if (type === "array") return bound(maxItems);
  return type === "object" && additionalProperties !== undefined ? bound(maxProperties) : 1n;
}

function multiplied(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || b === undefined ? undefined : multiplyCapped(a, b);
}

function excessText(subject: string, cost: bigint, max: bigint): string {
  const factor = Number(cost) / Number(max);
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  const advice =
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";
  return `${subject} exceeds budget by factor of ${shown} ${advice}`;
}
