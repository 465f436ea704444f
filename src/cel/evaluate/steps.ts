import type { CallCost } from "../cost/call-cost.ts";
import { listCreationCost, mapCreationCost, structCreationCost } from "../cost/factors.ts";
import type { Trait } from "../types/declarations.ts";
import { hasTrait, unsupportedCall } from "../types/runtime-type.ts";
import { displayText } from "../values/conversion.ts";
import { equalValues } from "../values/equality.ts";
import { ArrayList } from "../values/lists.ts";
import { GrowingMap } from "../values/maps.ts";
import { EvaluationError, isError, noSuchOverload, Optional, type Result, Uint, type Value } from "../values/value.ts";
import type { Attribute } from "./attribute.ts";
import type { Implementation } from "./dispatch.ts";
import type { Frame, Step } from "./frame.ts";

/** A value that is known when the program is made; it costs nothing. */
export class ConstantStep implements Step {
  readonly id: number;
  readonly value: Result;

  constructor(id: number, value: Result) {
    this.id = id;
    this.value = value;
  }

  run(): Result {
    return this.value;
  }
}

/** Reads an attribute. */
export class AttributeStep implements Step {
  readonly attribute: Attribute;
  /** A choice between attributes is free, and so is a presence test. */
  readonly #cost: number;

  constructor(attribute: Attribute, cost: number) {
    this.attribute = attribute;
    this.#cost = cost;
  }

  get id(): number {
    return this.attribute.id;
  }

  run(frame: Frame): Result {
    const value = this.attribute.resolve(frame);
    if (this.#cost > 0) frame.charge(this.#cost);
    return value;
  }
}

/** Asks whether an attribute is there. */
export class PresenceStep implements Step {
  readonly id: number;
  readonly attribute: Attribute;

  constructor(id: number, attribute: Attribute) {
    this.id = id;
    this.attribute = attribute;
  }

  run(frame: Frame): Result {
    const value = this.attribute.resolve(frame);
    return value instanceof Optional ? value.content !== undefined : value;
  }
}

/** Some other step, as a closure. */
export function step(id: number, run: (frame: Frame) => Result): Step {
  return { id, run };
}

function chargeCall(frame: Frame, cost: CallCost, args: readonly Result[], result: Result): Result {
  frame.charge(typeof cost === "number" ? cost : cost(args, result));
  return result;
}

/** The parts of a call. */
export interface CallParts {
  readonly id: number;
  readonly name: string;
  readonly overloadId: string;
  readonly implementation: Implementation | undefined;
  readonly cost: CallCost;
}

export function unaryCall({ id, name, implementation, cost }: CallParts, operand: Step): Step {
  const apply = implementation?.unary;
  const trait = implementation?.trait;
  return step(id, (frame) => {
    const value = operand.run(frame);
    let result: Result = value;
    if (!isError(value)) {
      result = apply === undefined ? unsupportedCall(name, value) : apply(value);
      if (result === noSuchOverload) result = refusal(name, trait, value);
    }
    if (typeof cost === "number") frame.charge(cost);
    else chargeCall(frame, cost, [value], result);
    return result;
  });
}

/** Returns the error of code that does not take its operands: it names the function if the first one cannot do such a thing. */
function refusal(name: string, trait: Trait | undefined, first: Value): EvaluationError {
  return trait === undefined || hasTrait(first, trait) ? noSuchOverload : unsupportedCall(name, first);
}

/** Both operands are evaluated, whether or not the first one is an error. */
export function binaryCall({ id, name, implementation, cost }: CallParts, left: Step, right: Step): Step {
  const apply = implementation?.binary;
  const trait = implementation?.trait;
  return step(id, (frame) => {
    const a = left.run(frame);
    const b = right.run(frame);
    let result: Result;
    if (isError(a)) result = a;
    else if (isError(b)) result = b;
    else {
      result = apply === undefined ? unsupportedCall(name, a) : apply(a, b);
      if (result === noSuchOverload) result = refusal(name, trait, a);
    }
    if (typeof cost === "number") frame.charge(cost);
    else chargeCall(frame, cost, [a, b], result);
    return result;
  });
}

/** Arguments are evaluated up to the first error; the call is charged for if all of them were. */
export function variadicCall({ id, name, implementation, cost }: CallParts, operands: readonly Step[]): Step {
  const apply = implementation?.variadic;
  return step(id, (frame) => {
    const values: Value[] = [];
    for (const [at, operand] of operands.entries()) {
      const value = operand.run(frame);
      if (isError(value))
        return at === operands.length - 1 ? chargeCall(frame, cost, [...values, value], value) : value;
      values.push(value);
    }
    const [first = null] = values;
    const result = apply === undefined ? unsupportedVariadic(name, id, first) : apply(values);
    return chargeCall(frame, cost, values, result);
  });
}

function unsupportedVariadic(name: string, id: number, first: Value): EvaluationError {
  const error = unsupportedCall(name, first);
  return error.message === "no such overload" ? error : new EvaluationError(`${error.message} ${id}`);
}

export function equalityCall(id: number, left: Step, right: Step, cost: CallCost, isNegated: boolean): Step {
  return step(id, (frame) => {
    const a = left.run(frame);
    const b = right.run(frame);
    let result: Result;
    if (isError(a)) result = a;
    else if (isError(b)) result = b;
    else if (isNegated) result = equalValues(a, b) !== true;
    else result = equalValues(a, b);
    return chargeCall(frame, cost, [a, b], result);
  });
}

/** `&&` and `||`: an operand that decides makes errors of the other one not count. */
export function logicalCall(id: number, operands: readonly Step[], deciding: boolean): Step {
  const [left, right, third] = operands;
  if (left !== undefined && right !== undefined && third === undefined) {
    return step(id, (frame) => {
      const a = left.run(frame);
      if (a === deciding) return deciding;
      const b = right.run(frame);
      if (b === deciding) return deciding;
      if (typeof a !== "boolean") return isError(a) ? a : noSuchOverload;
      if (typeof b !== "boolean") return isError(b) ? b : noSuchOverload;
      return !deciding;
    });
  }
  return step(id, (frame) => {
    let error: EvaluationError | undefined;
    for (const operand of operands) {
      const value = operand.run(frame);
      if (value === deciding) return deciding;
      if (typeof value !== "boolean") error ??= isError(value) ? value : noSuchOverload;
    }
    return error ?? !deciding;
  });
}

/** Reports whether a loop continues: everything except false does. */
export function notStrictlyFalseCall(id: number, operand: Step): Step {
  return step(id, (frame) => {
    const value = operand.run(frame);
    frame.charge(1);
    return value !== false;
  });
}

/** Returns the step of `a.or(b)` or `a.orValue(b)`, which evaluates `b` only if it is needed. */
export function optionalCall(id: number, left: Step, right: Step, unwraps: boolean): Step {
  return step(id, (frame) => {
    const value = left.run(frame);
    if (!(value instanceof Optional)) return value;
    if (value.content === undefined) return right.run(frame);
    return unwraps ? value.content : value;
  });
}

export function listStep(id: number, elements: readonly Step[], optional: ReadonlySet<number>): Step {
  return step(id, (frame) => {
    const list = makeList(frame, elements, optional);
    frame.charge(listCreationCost);
    return list;
  });
}

/** Makes a list of the elements; those that are optional and have no value are left out. */
export function makeList(frame: Frame, elements: readonly Step[], optional: ReadonlySet<number>): Result {
  const items: Result[] = [];
  for (const [at, element] of elements.entries()) {
    const value = element.run(frame);
    if (isError(value)) return value;
    if (!optional.has(at)) items.push(value);
    else if (!(value instanceof Optional)) {
      const message = "cannot initialize optional list element from non-optional value";
      return new EvaluationError(`${message} ${displayText(value)}`);
    } else if (value.content !== undefined) items.push(value.content);
  }
  return new ArrayList(items);
}

export interface EntrySteps {
  readonly key: Step;
  readonly value: Step;
  readonly optional: boolean;
}

export function mapStep(id: number, entries: readonly EntrySteps[]): Step {
  return step(id, (frame) => {
    const map = makeMap(frame, entries);
    frame.charge(mapCreationCost);
    return map;
  });
}

export function makeMap(frame: Frame, entries: readonly EntrySteps[]): Result {
  const map = new GrowingMap();
  for (const entry of entries) {
    const key = entry.key.run(frame);
    if (isError(key)) return key;
    const value = entry.value.run(frame);
    if (isError(value)) return value;
    if (!entry.optional) map.set(key, value);
    else if (!(value instanceof Optional)) return notOptional(displayText(key), value);
    else if (value.content === undefined) map.delete(key);
    else map.set(key, value.content);
  }
  return map.finish();
}

function notOptional(name: string, value: Value): EvaluationError {
  const message = `cannot initialize optional entry '${name}' from non-optional value`;
  return new EvaluationError(`${message} ${displayText(value)}`);
}

export interface FieldSteps {
  readonly name: string;
  readonly value: Step;
  readonly optional: boolean;
}

export function structStep(
  id: number,
  fields: readonly FieldSteps[],
  construct: (fields: ReadonlyMap<string, Value>) => Result,
): Step {
  const make = (frame: Frame): Result => {
    const values = new Map<string, Value>();
    for (const { name, value: source, optional } of fields) {
      const value = source.run(frame);
      if (isError(value)) return value;
      if (!optional) values.set(name, value);
      else if (!(value instanceof Optional)) return notOptional(name, value);
      else if (value.content === undefined) values.delete(name);
      else values.set(name, value.content);
    }
    return construct(values);
  };
  return step(id, (frame) => {
    const result = make(frame);
    frame.charge(structCreationCost);
    return result;
  });
}

/** `x in [constants]`: a look-up that costs nothing. Undefined where the list has elements that cannot be looked up. */
export function membershipStep(id: number, element: Step, constants: readonly Result[]): Step | undefined {
  const members = new Set<unknown>();
  for (const constant of constants) {
    const forms = equalForms(constant);
    if (forms === undefined) return undefined;
    for (const form of forms) members.add(form);
  }
  return step(id, (frame) => {
    const value = element.run(frame);
    return isError(value) ? value : members.has(memberKey(value));
  });
}

/** Unsigned numbers are looked up as tagged text, everything else as itself. */
function memberKey(value: Value): unknown {
  if (value instanceof Uint) return `\u0000uint:${value.value}`;
  return typeof value === "string" ? `"${value}` : value;
}

/** Returns what a constant equals: itself, and the same number in other types. */
function equalForms(value: Result): unknown[] | undefined {
  if (typeof value === "string" || typeof value === "boolean") return [memberKey(value)];
  if (typeof value === "bigint") {
    const unsigned = value >= 0n ? [memberKey(new Uint(value))] : [];
    return [value, Number(value), ...unsigned];
  }
  if (value instanceof Uint) {
    const signed = value.value < 2n ** 63n ? [value.value] : [];
    return [memberKey(value), Number(value.value), ...signed];
  }
  if (typeof value !== "number") return undefined;
  if (!Number.isInteger(value) || Math.abs(value) >= 2 ** 63) return [value];
  return [value, BigInt(value), ...(value >= 0 ? [memberKey(new Uint(BigInt(value)))] : [])];
}
