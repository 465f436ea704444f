import { compilePattern, PatternError } from "../../api/re2-pattern.ts";
import { callCost } from "../cost/call-cost.ts";
import type { Environment } from "../environment.ts";
import { type CallExpr, type Expr, type FoldExpr, operators, qualifiedName, type SelectExpr } from "../syntax/ast.ts";
import type { Reference } from "../types/checker.ts";
import { namedTypes } from "../types/type-provider.ts";
import { constructWellKnown } from "../types/well-known-messages.ts";
import { itemsOf } from "../values/lists.ts";
import { EvaluationError, isError, List, noSuchOverload, type Result, type Value } from "../values/value.ts";
import {
  type Attribute,
  ComputedAttribute,
  ComputedQualifier,
  ConditionalAttribute,
  ConstantQualifier,
  keyError,
  PresenceQualifier,
  type Qualifier,
  UncheckedAttribute,
  VariableAttribute,
} from "./attribute.ts";
import { firstAccumulator, foldStep } from "./fold.ts";
import { Frame, type Step } from "./frame.ts";
import {
  AttributeStep,
  binaryCall,
  type CallParts,
  ConstantStep,
  equalityCall,
  listStep,
  logicalCall,
  makeList,
  makeMap,
  mapStep,
  membershipStep,
  notStrictlyFalseCall,
  optionalCall,
  PresenceStep,
  structStep,
  unaryCall,
  variadicCall,
} from "./steps.ts";

/** Why an expression that compiles cannot be made into a program: a constant part of it fails. */
export class ProgramError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProgramError";
  }
}

const conversionFunctions: ReadonlySet<string> = new Set(
  "bool bytes double duration dyn int string timestamp type uint".split(" "),
);
const patternFunctions: ReadonlySet<string> = new Set(["matches", "find", "findAll"]);

/** The code to evaluate, and the number of variables of its loops. */
export interface Plan {
  readonly step: Step;
  readonly slotCount: number;
}

/**
 * Makes the steps of an expression. Without references it is taken as it was parsed.
 * @throws ProgramError
 */
export function plan(
  expr: Expr,
  references: ReadonlyMap<number, Reference> | undefined,
  environment: Environment,
): Plan {
  const planner = new Planner(references, environment);
  const step = planner.plan(expr);
  return { step, slotCount: planner.slotCount };
}

/** The variables of enclosing loops. */
interface LoopScope {
  readonly names: ReadonlyMap<string, (frame: Frame) => Result | undefined>;
  readonly outer: LoopScope | undefined;
}

class Planner {
  readonly #references: ReadonlyMap<number, Reference> | undefined;
  readonly #environment: Environment;
  #loops: LoopScope | undefined;
  slotCount = 0;

  constructor(references: ReadonlyMap<number, Reference> | undefined, environment: Environment) {
    this.#references = references;
    this.#environment = environment;
  }

  plan(expr: Expr): Step {
    switch (expr.kind) {
      case "literal":
        return new ConstantStep(expr.id, expr.value);
      case "ident":
        return this.#planIdent(expr.id, expr.name);
      case "select":
        return this.#planSelect(expr);
      case "call":
        return this.#planCall(expr);
      case "list": {
        const elements = expr.elements.map((element) => this.plan(element));
        if (!elements.every(isConstant)) return listStep(expr.id, elements, expr.optional);
        return new ConstantStep(expr.id, makeList(emptyFrame(), elements, expr.optional));
      }
      case "map": {
        const entries = expr.entries.map(({ key, value, optional }) => ({
          key: this.plan(key),
          value: this.plan(value),
          optional,
        }));
        const isFixed = entries.every(({ key, value }) => isConstant(key) && isConstant(value));
        if (!isFixed) return mapStep(expr.id, entries);
        return new ConstantStep(expr.id, makeMap(emptyFrame(), entries));
      }
      case "struct":
        return this.#planStruct(expr);
      case "fold":
        return this.#planFold(expr);
      case "broken":
        throw new ProgramError("unsupported expr");
    }
  }

  #planIdent(id: number, name: string): Step {
    const reference = this.#references?.get(id);
    if (this.#references === undefined) return new AttributeStep(this.#uncheckedAttribute(id, name), 1);
    if (reference?.kind === "name" && reference.constant !== undefined) return new ConstantStep(id, reference.constant);
    const type = this.#typeNamed(name);
    if (type !== undefined) return new ConstantStep(id, type);
    return new AttributeStep(this.#variable(id, [name]), 1);
  }

  #uncheckedAttribute(id: number, name: string): Attribute {
    const names = this.#environment.candidates(name);
    return new UncheckedAttribute(id, names, (at, candidates) => this.#variable(at, candidates));
  }

  /** A type is named where no variable has its name. */
  #typeNamed(name: string): Result | undefined {
    const isVariable = this.#loopVariable(name) !== undefined || this.#environment.variables.has(name);
    return isVariable ? undefined : (namedTypes.get(name) ?? this.#environment.types.get(name));
  }

  #variable(id: number, names: readonly string[]): VariableAttribute {
    const reads = names.map((name) => {
      const loop = this.#loopVariable(name);
      if (loop !== undefined) return loop;
      const type = this.#typeNamed(name);
      const constant = this.#environment.scope.find(`.${name}`)?.constant;
      return (frame: Frame) => {
        const value = frame.activation.resolve(name);
        return value === undefined ? (constant ?? type) : value;
      };
    });
    return new VariableAttribute(id, names, reads);
  }

  #loopVariable(name: string): ((frame: Frame) => Result | undefined) | undefined {
    for (let scope = this.#loops; scope !== undefined; scope = scope.outer) {
      const read = scope.names.get(name);
      if (read !== undefined) return read;
    }
    return undefined;
  }

  #planSelect(expr: SelectExpr): Step {
    const operand = this.plan(expr.operand);
    const { attribute, cost } = attributeOf(operand);
    if (expr.testOnly) {
      attribute.qualify(new PresenceQualifier(expr.id, expr.field));
      return new PresenceStep(expr.id, attribute);
    }
    attribute.qualify(new ConstantQualifier(expr.id, expr.field, false));
    return new AttributeStep(attribute, cost);
  }

  #planCall(expr: CallExpr): Step {
    const resolved = this.#resolveFunction(expr);
    const operands = [...(resolved.target === undefined ? [] : [resolved.target]), ...expr.args].map((operand) =>
      this.plan(operand),
    );
    const special = this.#planOperator(expr, resolved.name, operands);
    if (special !== undefined) return special;
    const { name, overloadId } = resolved;
    const implementation = this.#environment.implementation(overloadId) ?? this.#environment.implementation(name);
    const parts: CallParts = { id: expr.id, name, overloadId, implementation, cost: callCost(name, overloadId) };
    const planned = this.#planFunction(parts, operands);
    return this.#optimize(parts, operands, planned);
  }

  #resolveFunction(expr: CallExpr): {
    readonly name: string;
    readonly target: Expr | undefined;
    readonly overloadId: string;
  } {
    const reference = this.#references?.get(expr.id);
    if (reference?.kind === "function") {
      const [only = "", second] = reference.overloads;
      return { name: expr.name, target: expr.target, overloadId: second === undefined ? only : "" };
    }
    const prefix = expr.target === undefined ? undefined : qualifiedName(expr.target);
    const full = expr.target === undefined ? expr.name : prefix === undefined ? undefined : `${prefix}.${expr.name}`;
    const candidates = full === undefined ? [] : this.#environment.candidates(full);
    const known = candidates.find((name) => this.#environment.implementation(name) !== undefined);
    if (known !== undefined) return { name: known, target: undefined, overloadId: "" };
    const name = expr.target === undefined && expr.name.startsWith(".") ? expr.name.slice(1) : expr.name;
    return { name, target: expr.target, overloadId: "" };
  }

  #planOperator(expr: CallExpr, name: string, operands: readonly Step[]): Step | undefined {
    const [first, second, third] = operands;
    const { id } = expr;
    if (first === undefined) return undefined;
    if (name === operators.notStrictlyFalse) return notStrictlyFalseCall(id, first);
    if (second === undefined) return undefined;
    switch (name) {
      case operators.and:
        return logicalCall(id, operands, false);
      case operators.or:
        return logicalCall(id, operands, true);
      case operators.equals:
        return equalityCall(id, first, second, callCost(name, "equals"), false);
      case operators.notEquals:
        return equalityCall(id, first, second, callCost(name, "not_equals"), true);
      case operators.index:
        return this.#planIndex(id, first, second, false);
      case operators.optionalIndex:
      case operators.optionalSelect:
        return this.#planIndex(id, first, second, true);
      case operators.conditional:
        return third === undefined ? undefined : conditionalStep(id, first, second, third);
      default:
        return undefined;
    }
  }

  #planIndex(id: number, operand: Step, index: Step, isOptional: boolean): Step {
    const { attribute, cost } = attributeOf(operand);
    attribute.qualify(indexQualifier(id, index, isOptional));
    return new AttributeStep(attribute, cost);
  }

  #planFunction(parts: CallParts, operands: readonly Step[]): Step {
    const { implementation, name } = parts;
    const [first, second] = operands;
    const isVariadic = implementation?.variadic !== undefined;
    if (operands.length === 0 && !isVariadic) throw new ProgramError(`no such overload: ${name}()`);
    if (operands.length === 1 && first !== undefined && !isVariadic) {
      if (implementation !== undefined && implementation.unary === undefined) {
        throw new ProgramError(`no such overload: ${name}(arg)`);
      }
      return unaryCall(parts, first);
    }
    if (operands.length === 2 && first !== undefined && second !== undefined && !isVariadic) {
      if (implementation !== undefined && implementation.binary === undefined) {
        throw new ProgramError(`no such overload: ${name}(lhs, rhs)`);
      }
      return binaryCall(parts, first, second);
    }
    if (implementation !== undefined && !isVariadic) throw new ProgramError(`no such overload: ${name}(...)`);
    return variadicCall(parts, operands);
  }

  /** Does what need not wait for values: constant conversions, look-ups in constant lists, patterns. */
  #optimize(parts: CallParts, operands: readonly Step[], planned: Step): Step {
    const { id, name, overloadId } = parts;
    const [first, second] = operands;
    if (first === undefined) return planned;
    if (second === undefined) {
      if (!conversionFunctions.has(name) || !isConstant(first)) return planned;
      const value = planned.run(emptyFrame());
      if (isError(value)) throw new ProgramError(value.message);
      return new ConstantStep(id, value);
    }
    if (name === "or" && (overloadId === "" || overloadId === "optional_or_optional") && operands.length === 2) {
      return optionalCall(id, first, second, false);
    }
    if (name === "orValue" && (overloadId === "" || overloadId === "optional_orValue_value") && operands.length === 2) {
      return optionalCall(id, first, second, true);
    }
    if (overloadId === "in_list" && isConstant(second) && second.value instanceof List) {
      if (second.value.size === 0) return new ConstantStep(id, false);
      return membershipStep(id, first, [...itemsOf(second.value)]) ?? planned;
    }
    if (patternFunctions.has(name) && isConstant(second) && typeof second.value === "string") {
      return this.#withPattern(parts, operands, second.value);
    }
    return planned;
  }

  /** A constant pattern is compiled now, and the call takes its arguments in order. */
  #withPattern(parts: CallParts, operands: readonly Step[], pattern: string): Step {
    try {
      compilePattern(pattern);
    } catch (error) {
      if (error instanceof PatternError) throw new ProgramError(error.message);
      throw error;
    }
    const { implementation } = parts;
    const variadic = (values: readonly Value[]): Result => {
      const [text = null, second = null, limit = 0n] = values;
      if (typeof text !== "string" || typeof limit !== "bigint") return noSuchOverload;
      return implementation?.variadic?.(values) ?? implementation?.binary?.(text, second) ?? noSuchOverload;
    };
    return variadicCall({ ...parts, implementation: { variadic } }, operands);
  }

  #planStruct(expr: Expr & { readonly kind: "struct" }): Step {
    const names = this.#environment.candidates(expr.typeName);
    const typeName = names.find((name) => this.#environment.provider.findStruct(name) !== undefined);
    if (typeName === undefined) throw new ProgramError(`unknown type: ${expr.typeName}`);
    const fields = expr.fields.map(({ name, value, optional }) => ({ name, value: this.plan(value), optional }));
    const construct = this.#environment.constructorOf(typeName);
    return structStep(expr.id, fields, (values) => {
      const made = construct === undefined ? constructWellKnown(typeName, values) : construct(values);
      return made === undefined ? new EvaluationError(`unknown type '${typeName}'`) : made;
    });
  }

  #planFold(expr: FoldExpr): Step {
    const outer = this.#loops;
    const init = this.plan(expr.accuInit);
    const range = this.plan(expr.range);
    const accuSlot = this.slotCount++;
    const iterSlot = this.slotCount++;
    const iterSlot2 = expr.iterVar2 === "" ? undefined : this.slotCount++;
    const accumulator = (frame: Frame): Result => {
      const value = frame.slots[accuSlot];
      if (value !== undefined) return value;
      const first = firstAccumulator(init.run(frame));
      frame.slots[accuSlot] = first;
      return first;
    };
    const withAccu: LoopScope = { names: new Map([[expr.accuVar, accumulator]]), outer };
    const variables = new Map([[expr.iterVar, (frame: Frame) => frame.slots[iterSlot]]]);
    if (iterSlot2 !== undefined) variables.set(expr.iterVar2, (frame: Frame) => frame.slots[iterSlot2]);
    if (variables.has(expr.accuVar)) variables.set(expr.accuVar, accumulator);
    this.#loops = { names: variables, outer: withAccu };
    const condition = this.plan(expr.condition);
    const step = this.plan(expr.step);
    this.#loops = withAccu;
    const result = this.plan(expr.result);
    this.#loops = outer;
    return foldStep({ id: expr.id, range, condition, step, result, accuSlot, iterSlot, iterSlot2 });
  }
}

function emptyFrame(): Frame {
  return new Frame({ resolve: () => undefined }, 0, Number.POSITIVE_INFINITY);
}

function isConstant(step: Step): step is ConstantStep {
  return step instanceof ConstantStep;
}

/** Returns the attribute that a step reads, or one that begins with its value, and what reading it costs. */
function attributeOf(step: Step): { readonly attribute: Attribute; readonly cost: number } {
  if (step instanceof AttributeStep) {
    return { attribute: step.attribute, cost: step.attribute instanceof ConditionalAttribute ? 0 : 1 };
  }
  return { attribute: new ComputedAttribute(step.id, step), cost: 1 };
}

function conditionalStep(id: number, condition: Step, yes: Step, no: Step): Step {
  const branch = (step: Step) =>
    step instanceof AttributeStep ? step.attribute : new ComputedAttribute(step.id, step);
  return new AttributeStep(new ConditionalAttribute(id, condition, branch(yes), branch(no)), 0);
}

function indexQualifier(id: number, index: Step, isOptional: boolean): Qualifier {
  if (index instanceof ConstantStep && !isError(index.value)) {
    const error = keyError(index.value);
    if (error !== undefined) throw new ProgramError(error.message);
    return new ConstantQualifier(id, index.value, isOptional);
  }
  if (index instanceof AttributeStep) return new ComputedQualifier(id, index.attribute, isOptional);
  return new ComputedQualifier(id, { resolve: (frame) => index.run(frame) }, isOptional);
}
