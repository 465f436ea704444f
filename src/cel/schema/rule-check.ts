import { addCapped, multiplyCapped } from "../cost/range.ts";
import { type DeclaredType, declareType } from "./declared-type.ts";
import { compileRules, type CompiledRule, type RuleEnvironments, selfTypeName, unboundedCardinality } from "./rule.ts";
import { normalizeFieldPath } from "./rule-field-path.ts";
import { fieldPath, type RuleProblem } from "./rule-problem.ts";
import { type RuleSchema, type ValidationRule, valuesSchema } from "./rule-schema.ts";

/** The most that one rule may be estimated to cost, times how often it may run. */
export const ruleCostMax = 10_000_000n;
/** The most that all rules of one version may be estimated to cost. */
export const totalRuleCostMax = 100_000_000n;
/** Rules that are blamed for a total that is too high. */
const blamedRulesMax = 4;
const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"] as const;

export interface RuleCheckOptions {
  readonly environments: RuleEnvironments;
  /** The path of the schema, as errors show it. */
  readonly path: string;
  /** Reports a rule whatever it costs; an update that leaves a schema as it is does so. */
  readonly ignoresRuleCosts?: boolean;
}

interface Place {
  readonly path: string;
  /** How often a value here may occur; undefined where nothing bounds it. */
  readonly cardinality: bigint | undefined;
  /** The part of the schema whose old and new values cannot be told apart, if this is in one. */
  readonly uncorrelatable: string | undefined;
}

interface RuleCost {
  readonly path: string;
  readonly cost: bigint;
}

/** Checks the rules in the schema of a version: that they compile, mean something, and do not cost too much. */
export function checkRules(root: RuleSchema, options: RuleCheckOptions): RuleProblem[] {
  const checker = new RuleChecker(options);
  checker.check(root, () => declareType(root, true, selfTypeName), {
    path: options.path,
    cardinality: 1n,
    uncorrelatable: undefined,
  });
  return [...checker.schemaProblems, ...checker.ruleProblems, ...checker.totalProblems(options.path)];
}

class RuleChecker {
  readonly schemaProblems: RuleProblem[] = [];
  readonly ruleProblems: RuleProblem[] = [];
  readonly #options: RuleCheckOptions;
  #total = 0n;
  #mostExpensive: RuleCost[] = [];

  constructor(options: RuleCheckOptions) {
    this.#options = options;
  }

  /** Checks a node and all below it; what is wrong with the form of a rule keeps those around it from being compiled. */
  check(schema: RuleSchema, typeOf: () => DeclaredType | undefined, place: Place): void {
    const problemsBefore = this.schemaProblems.length;
    this.#checkChildren(schema, place);
    const rules = schema["x-kubernetes-validations"] ?? [];
    for (const [at, rule] of rules.entries()) this.#checkForm(rule, schema, rulePath(place, at));
    if (rules.length === 0 || this.schemaProblems.length > problemsBefore) return;
    const type = typeOf();
    if (type === undefined) return;
    for (const [at, compiled] of compileRules(schema, type, this.#options.environments).entries()) {
      this.#checkCompiled(compiled, type, place, rulePath(place, at));
    }
  }

  #checkChildren(schema: RuleSchema, place: Place): void {
    const cardinality = multiplied(place.cardinality, elementsMax(schema));
    const below = (path: string, isUncorrelatable: boolean): Place => ({
      path,
      cardinality,
      uncorrelatable: isUncorrelatable ? (place.uncorrelatable ?? place.path) : place.uncorrelatable,
    });
    const declare = (child: RuleSchema) => () => declareType(child, isEmbedded(child), selfTypeName);
    const values = valuesSchema(schema);
    if (values !== undefined) this.check(values, declare(values), below(`${place.path}.additionalProperties`, false));
    const isAtomicMap = !isCorrelatableMap(schema);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      this.check(property, declare(property), below(`${place.path}.properties[${name}]`, isAtomicMap));
    }
    const { items } = schema;
    if (items === undefined) return;
    const isKeyed = schema["x-kubernetes-list-type"] === "map";
    this.check(items, declare(items), below(`${place.path}.items`, !isKeyed));
  }

  #checkForm(rule: ValidationRule, schema: RuleSchema, path: string): void {
    const report = (kind: RuleProblem["kind"], name: string, detail: string, value?: string) =>
      this.schemaProblems.push({ kind, field: `${path}.${name}`, detail, ...(value === undefined ? {} : { value }) });
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
    if (target === "") return;
    if (target.trim() === "") report("Invalid", "fieldPath", "must be non-empty if specified", target);
    if (hasLineBreak(target)) report("Invalid", "fieldPath", "must not contain line breaks", target);
    if (normalizeFieldPath(target, schema) === undefined) {
      report("Invalid", "fieldPath", "must be a valid path", target);
    }
  }

  #checkCompiled(compiled: CompiledRule, type: DeclaredType, place: Place, path: string): void {
    const report = (kind: RuleProblem["kind"], name: string, detail: string, value?: RuleProblem["value"]) =>
      this.ruleProblems.push({ kind, field: `${path}.${name}`, detail, ...(value === undefined ? {} : { value }) });
    const { rule } = compiled;
    const cost = multiplyCapped(compiled.program?.estimate.max ?? 0n, place.cardinality ?? unboundedCardinality(type));
    this.#count(`${path}.rule`, cost, "estimated rule cost", (detail) => report("Forbidden", "rule", detail));
    if (compiled.error !== undefined) report("Invalid", "rule", compiled.error, { ...rule });
    if (compiled.messageError !== undefined) {
      report("Invalid", "messageExpression", compiled.messageError, { ...rule });
    } else if (compiled.message !== undefined) {
      const { max } = compiled.message.estimate;
      this.#count(`${path}.messageExpression`, max, "estimated messageExpression cost", (detail) =>
        report("Forbidden", "messageExpression", detail),
      );
    }
    if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined) {
      report("Invalid", "optionalOldSelf", "may not be set if oldSelf is not used in rule", rule.optionalOldSelf);
    }
    if (compiled.usesOldSelf && place.uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
      report("Invalid", "rule", detail, rule.rule);
    }
  }

  #count(path: string, cost: bigint, subject: string, refuse: (detail: string) => void): void {
    if (cost > ruleCostMax && this.#options.ignoresRuleCosts !== true) refuse(excessText(subject, cost, ruleCostMax));
    this.#total = addCapped(this.#total, cost);
    if (cost < totalRuleCostMax / 100n) return;
    const sorted = [...this.#mostExpensive, { path, cost }].sort((a, b) =>
      a.cost === b.cost ? 0 : a.cost > b.cost ? -1 : 1,
    );
    this.#mostExpensive = sorted.slice(0, blamedRulesMax);
  }

  totalProblems(path: string): RuleProblem[] {
    if (this.#total <= totalRuleCostMax) return [];
    const blame = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const subject = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    const blamed = this.#mostExpensive.map(({ path: field }) => ({ kind: "Forbidden" as const, field, detail: blame }));
    return [...blamed, { kind: "Forbidden", field: path, detail: excessText(subject, this.#total, totalRuleCostMax) }];
  }
}

function rulePath({ path }: Place, at: number): string {
  return fieldPath.index(`${path}.x-kubernetes-validations`, at);
}

function isEmbedded(schema: RuleSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
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
