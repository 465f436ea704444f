import type { Activation } from "../evaluate/frame.ts";
import { costLimitMessage, objectCostMax } from "../limits.ts";
import { equalJson, isJsonFields, isJsonList, type Json, type JsonFields } from "../values/json-value.ts";
import { isError, Optional, type Result } from "../values/value.ts";
import { type DeclaredType, declareType } from "./declared-type.ts";
import { escapeFieldName } from "./field-name.ts";
import { type CompiledRule, compileRules, type RuleEnvironments, selfTypeName } from "./rule.ts";
import { isCorrelatableMap } from "./rule-check.ts";
import { fieldPath, type RuleProblem, rootPath } from "./rule-problem.ts";
import { asResource, hasRules, type RuleSchema, type ValidationRule, valuesSchema } from "./rule-schema.ts";
import { typedValue } from "./typed-value.ts";

const messageBytesMax = 5_120;
const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run";

/** The rules of a schema, by node; only nodes with rules at or below them are there. */
export interface RuleValidator {
  readonly schema: RuleSchema;
  /** Returns the rules of the node, which are compiled when they first run. Yields while they are. */
  compiledRules(): Generator<void, readonly CompiledRule[]>;
  /** Why none of the rules can be compiled. */
  readonly problem: string | undefined;
  readonly items?: RuleValidator;
  readonly values?: RuleValidator;
  readonly properties: ReadonlyMap<string, RuleValidator>;
  readonly allOf: readonly RuleValidator[];
}

/** Prepares the rules of a schema; undefined if there are none. */
export function makeRuleValidator(
  root: RuleSchema,
  environments: RuleEnvironments,
  isResource = true,
): RuleValidator | undefined {
  return hasRules(root) ? makeValidator(root, root, isResource, environments) : undefined;
}

/** @param rulesOf where the rules are; an element of allOf has rules of the node that it is part of */
function makeValidator(
  rulesOf: RuleSchema,
  node: RuleSchema,
  isResource: boolean,
  environments: RuleEnvironments,
): RuleValidator | undefined {
  const declared = rulesOf["x-kubernetes-validations"] ?? [];
  const below = (part: RuleSchema | undefined, child: RuleSchema | undefined) =>
    part === undefined || child === undefined ? undefined : makeValidator(part, child, isEmbedded(child), environments);
  const items = below(rulesOf.items, node.items);
  const values = below(valuesSchema(rulesOf), valuesSchema(node));
  const properties = new Map<string, RuleValidator>();
  for (const [name, part] of Object.entries(rulesOf.properties ?? {})) {
    const isVisible = escapeFieldName(name) === undefined || declaresFields(node);
    const validator = isVisible ? below(part, node.properties?.[name]) : undefined;
    if (validator !== undefined) properties.set(name, validator);
  }
  const allOf = (rulesOf.allOf ?? []).flatMap((part) => makeValidator(part, node, isResource, environments) ?? []);
  const isEmpty = declared.length === 0 && items === undefined && values === undefined && properties.size === 0;
  if (isEmpty && allOf.length === 0) return undefined;
  const schema = isResource ? asResource(node) : node;
  return new NodeRules({ schema, node, isResource, declared, environments, items, values, properties, allOf });
}

interface NodeParts {
  readonly schema: RuleSchema;
  readonly node: RuleSchema;
  readonly isResource: boolean;
  readonly declared: readonly ValidationRule[];
  readonly environments: RuleEnvironments;
  readonly items: RuleValidator | undefined;
  readonly values: RuleValidator | undefined;
  readonly properties: ReadonlyMap<string, RuleValidator>;
  readonly allOf: readonly RuleValidator[];
}

class NodeRules implements RuleValidator {
  readonly schema: RuleSchema;
  readonly items?: RuleValidator;
  readonly values?: RuleValidator;
  readonly properties: ReadonlyMap<string, RuleValidator>;
  readonly allOf: readonly RuleValidator[];
  readonly #parts: NodeParts;
  #type: DeclaredType | undefined;
  #rules: readonly CompiledRule[] | undefined;
  #compilation: Generator<void, void> | undefined;

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.schema = parts.schema;
    if (parts.items !== undefined) this.items = parts.items;
    if (parts.values !== undefined) this.values = parts.values;
    this.properties = parts.properties;
    this.allOf = parts.allOf;
  }

  #declaredType(): DeclaredType | undefined {
    this.#type ??= declareType(this.#parts.node, this.#parts.isResource, selfTypeName);
    return this.#type;
  }

  /** Everybody who needs the rules advances the same compilation, so that it is done once. */
  *compiledRules(): Generator<void, readonly CompiledRule[]> {
    while (this.#rules === undefined) {
      this.#compilation ??= this.#compile();
      if (this.#compilation.next().done === true) this.#compilation = undefined;
      else yield;
    }
    return this.#rules;
  }

  get problem(): string | undefined {
    if (this.#parts.declared.length === 0 || this.#declaredType() !== undefined) return undefined;
    return "failed to convert to declType for CEL validation rules";
  }

  *#compile(): Generator<void, void> {
    const { node, declared, environments } = this.#parts;
    const type = declared.length === 0 ? undefined : this.#declaredType();
    if (type === undefined) {
      this.#rules = [];
      return;
    }
    const startMs = performance.now();
    this.#rules = yield* compileRules({ ...node, "x-kubernetes-validations": declared }, type, environments);
    environments.compiled?.((performance.now() - startMs) / 1_000);
  }
}

/** Reports whether expressions see a schema as an object with fields. */
function declaresFields(schema: RuleSchema): boolean {
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;
  return !isIntOrString && schema.type === "object" && valuesSchema(schema) === undefined;
}

function isEmbedded(schema: RuleSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

export interface RuleValidation {
  readonly errors: readonly RuleProblem[];
  /** Failures at values that this update has not changed. */
  readonly warnings: readonly RuleProblem[];
  /** The rest of the budget; negative once it is spent, and no rule has run since. */
  readonly budget: number;
}

export interface RunOptions {
  /** The most that the rules may cost together. */
  readonly budget?: number;
  /** The path of the value; that of an object itself by default. */
  readonly path?: string;
}

/**
 * Runs the rules one by one. Yields between them, and within one that takes long, so that the caller can let others
 * have their turn.
 */
export function* runRules(
  validator: RuleValidator,
  object: Json,
  oldObject: Json | undefined,
  { budget = objectCostMax, path = rootPath }: RunOptions = {},
): Generator<void, RuleValidation> {
  const run = new RuleRun(budget);
  yield* run.visit(validator, path, object, oldObject, { isKnown: oldObject !== undefined, old: oldObject });
  return { errors: run.errors, warnings: run.warnings, budget: run.budget };
}

/** The old value that a node is compared to: its own, or that of the nearest node around it that has one. */
interface Correlation {
  readonly isKnown: boolean;
  readonly old: Json | undefined;
  readonly isUnchangedAround?: boolean;
}

class RuleRun {
  readonly errors: RuleProblem[] = [];
  readonly warnings: RuleProblem[] = [];
  budget: number;

  constructor(budget: number) {
    this.budget = budget;
  }

  *visit(
    validator: RuleValidator,
    path: string,
    value: Json,
    old: Json | undefined,
    correlation: Correlation,
  ): Generator<void> {
    if (value === null) return;
    yield* this.#runNode(validator, path, value, old ?? undefined, correlation);
    for (const part of validator.allOf) {
      if (this.budget < 0) return;
      yield* this.visit(part, path, value, old, { isKnown: false, old: undefined });
    }
    if (this.budget < 0) return;
    if (isJsonList(value)) yield* this.#visitItems(validator, path, value, isJsonList(old) ? old : [], correlation);
    else if (isJsonFields(value)) yield* this.#visitFields(validator, path, value, old, correlation);
  }

  *#visitItems(
    { items, schema }: RuleValidator,
    path: string,
    list: readonly Json[],
    oldList: readonly Json[],
    correlation: Correlation,
  ): Generator<void> {
    if (items === undefined) return;
    const keys = schema["x-kubernetes-list-type"] === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : [];
    const oldByKey = new Map<string, Json>();
    for (const item of keys.length === 0 ? [] : oldList) {
      const key = itemKey(item, keys);
      if (key !== undefined && !oldByKey.has(key)) oldByKey.set(key, item);
    }
    for (const [at, item] of list.entries()) {
      const key = oldByKey.size === 0 ? undefined : itemKey(item, keys);
      const old = key === undefined ? undefined : oldByKey.get(key);
      const below = keys.length === 0 ? uncorrelated(correlation, list) : correlatedTo(correlation, old, list);
      yield* this.visit(items, fieldPath.index(path, at), item, old, below);
      if (this.budget < 0) return;
    }
  }

  *#visitFields(
    { schema, values, properties }: RuleValidator,
    path: string,
    fields: JsonFields,
    old: Json | undefined,
    correlation: Correlation,
  ): Generator<void> {
    const oldFields = isCorrelatableMap(schema) && isJsonFields(old) ? old : {};
    const oldOf = (name: string) => (Object.hasOwn(oldFields, name) ? oldFields[name] : undefined);
    for (const [name, value] of Object.entries(fields)) {
      const property = properties.get(name);
      const below = correlatedTo(correlation, oldOf(name), fields);
      if (values !== undefined) yield* this.visit(values, fieldPath.key(path, name), value, oldOf(name), below);
      if (this.budget < 0) return;
      if (property !== undefined) yield* this.visit(property, fieldPath.child(path, name), value, oldOf(name), below);
      if (this.budget < 0) return;
    }
  }

  *#runNode(
    validator: RuleValidator,
    path: string,
    value: Json,
    old: Json | undefined,
    correlation: Correlation,
  ): Generator<void> {
    const { schema, problem } = validator;
    const type = schema.type ?? "";
    if (problem !== undefined) {
      this.#fail(path, type, `rule compiler initialization error: ${problem}`);
      return;
    }
    const rules = yield* validator.compiledRules();
    if (rules.length === 0) return;
    if (this.budget <= 0) {
      this.#stop(path, type, outOfBudget);
      return;
    }
    const self = typedValue(value, schema);
    const oldSelf = old === undefined ? undefined : typedValue(old, schema);
    for (const compiled of rules) {
      yield* this.#runRule(compiled, { path, type, value, self, oldSelf, correlation });
      if (this.budget < 0) return;
      yield;
    }
  }

  #fail(field: string, value: Json, detail: string): void {
    this.errors.push({ kind: "Invalid", field, detail, value });
  }

  #stop(field: string, value: Json, detail: string): void {
    this.#fail(field, value, detail);
    this.budget = -1;
  }

  *#runRule(compiled: CompiledRule, node: NodeValue): Generator<void> {
    const { path, type, self, oldSelf } = node;
    const { rule, program } = compiled;
    if (compiled.error !== undefined) {
      this.#fail(path, type, `rule compile error: ${compiled.error}`);
      return;
    }
    const isOptional = rule.optionalOldSelf === true;
    if (program === undefined || (compiled.usesOldSelf && oldSelf === undefined && !isOptional)) return;
    const activation = activationOf(self, isOptional ? optionalOldSelf(oldSelf) : oldSelf);
    const { value, cost } = yield* program.program.start(activation).inStretches();
    if (cost > this.budget) {
      this.#stop(path, type, outOfBudget);
      return;
    }
    this.budget -= cost;
    if (isError(value)) this.#reportError(value.message, compiled, node);
    else if (value !== true) yield* this.#reportFailure(compiled, node);
  }

  #reportError(message: string, { rule }: CompiledRule, { path, type }: NodeValue): void {
    const shown = shownRule(rule);
    if (message.startsWith("no such overload")) {
      const reason = "call arguments did not match a supported operator, function or macro signature for rule";
      this.#fail(path, type, `'${message}': ${reason}: ${shown}`);
    } else if (message.startsWith(costLimitMessage)) {
      const reason = "no further validation rules will be run due to call cost exceeds limit for rule";
      this.#stop(path, type, `'${message}': ${reason}: ${shown}`);
    } else {
      this.#fail(path, type, `${message} evaluating rule: ${shown}`);
    }
  }

  *#reportFailure(compiled: CompiledRule, node: NodeValue): Generator<void> {
    const { rule } = compiled;
    const field = compiled.fieldPath === undefined ? node.path : fieldPath.child(node.path, compiled.fieldPath);
    const report = (problem: RuleProblem) => {
      const isRatcheted = !compiled.usesOldSelf && isUnchanged(node.correlation, node.value);
      (isRatcheted ? this.warnings : this.errors).push(problem);
    };
    const message = yield* this.#message(compiled, node);
    if (message.stops !== undefined) {
      report({ kind: "Invalid", field, detail: message.stops, value: node.type });
      this.budget = -1;
      return;
    }
    const written =
      rule.message === undefined || rule.message === "" ? `failed rule: ${shownRule(rule)}` : rule.message.trim();
    const isShown = node.type !== "object" && node.type !== "array";
    const value = isShown ? { value: node.value } : {};
    report({ kind: kindOf(rule.reason), field, detail: message.text ?? written, ...value });
  }

  /** Evaluates the message; one that fails in itself counts as none. */
  *#message(
    { message, rule }: CompiledRule,
    { self, oldSelf }: NodeValue,
  ): Generator<void, { readonly text?: string; readonly stops?: string }> {
    if (message === undefined) return {};
    const { value, cost } = yield* message.program.start(activationOf(self, oldSelf)).inStretches();
    if (cost > this.budget) {
      const reason = "messageExpression evaluation failed due to running out of cost budget";
      return { stops: `${reason}, no further validation rules will be run` };
    }
    if (isError(value) && value.message.startsWith(costLimitMessage)) {
      const reason = "no further validation rules will be run due to call cost exceeds limit for messageExpression";
      return { stops: `${reason}: ${JSON.stringify(rule.messageExpression)}` };
    }
    this.budget -= cost;
    if (typeof value !== "string") return {};
    const text = value.trim();
    const isUsable = text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= messageBytesMax;
    return isUsable ? { text } : {};
  }
}

interface NodeValue {
  readonly path: string;
  readonly type: string;
  readonly value: Json;
  readonly self: Result;
  readonly oldSelf: Result | undefined;
  readonly correlation: Correlation;
}

function activationOf(self: Result, oldSelf: Result | undefined): Activation {
  return { resolve: (name) => (name === "self" ? self : name === "oldSelf" ? oldSelf : undefined) };
}

function optionalOldSelf(oldSelf: Result | undefined): Result {
  if (oldSelf === undefined) return Optional.none;
  return isError(oldSelf) ? oldSelf : new Optional(oldSelf);
}

function shownRule({ rule, message = "" }: CompiledRule["rule"]): string {
  return (message === "" ? rule : message).trim();
}

function kindOf(reason: string | undefined): RuleProblem["kind"] {
  switch (reason) {
    case "FieldValueForbidden":
      return "Forbidden";
    case "FieldValueRequired":
      return "Required";
    case "FieldValueDuplicate":
      return "Duplicate";
    default:
      return "Invalid";
  }
}

/** Returns the key of an item of a keyed list; undefined if it lacks one, or has one that is not a scalar. */
function itemKey(item: Json, keys: readonly string[]): string | undefined {
  if (!isJsonFields(item)) return undefined;
  const parts: string[] = [];
  for (const key of keys) {
    const value = item[key];
    if (value === undefined || value === null || typeof value === "object") return undefined;
    parts.push(`${typeof value} ${value}`);
  }
  return parts.join("\u0000");
}

function isUnchanged({ isKnown, old, isUnchangedAround }: Correlation, value: Json): boolean {
  return isKnown ? equalJson(value, old) : isUnchangedAround === true;
}

/** Items of such lists have no old values; whether the list changed decides for all of them. */
function uncorrelated(around: Correlation, list: Json): Correlation {
  return { isKnown: false, old: undefined, isUnchangedAround: isUnchanged(around, list) };
}

function correlatedTo(around: Correlation, old: Json | undefined, parent: Json): Correlation {
  if (!around.isKnown) return around;
  return old === undefined ? uncorrelated(around, parent) : { isKnown: true, old };
}
