import { representationName } from "../types/runtime-type.ts";
import { displayText } from "../values/conversion.ts";
import {
  EvaluationError,
  isError,
  List,
  Optional,
  type Result,
  typeOfValue,
  Uint,
  type Value,
  ValueMap,
} from "../values/value.ts";
import type { Frame, Step } from "./frame.ts";

const signedMax = 2n ** 63n - 1n;

/** One step from a value to a part of it: a field, a key, an index. */
export interface Qualifier {
  readonly id: number;
  readonly isOptional: boolean;
  /** The name, if it is a constant text. */
  readonly name: string | undefined;
  qualify(frame: Frame, value: Value): Result;
  /** Returns undefined where the part is absent. */
  qualifyIfPresent(frame: Frame, value: Value): Result | undefined;
}

/** A place that can be qualified further, and is read as a whole. */
export interface Attribute {
  /** The node of the last qualifier, or of the attribute. */
  readonly id: number;
  resolve(frame: Frame): Result;
  qualify(qualifier: Qualifier): void;
}

/** A variable with its qualifiers. */
export class VariableAttribute implements Attribute {
  readonly #id: number;
  readonly #names: readonly string[];
  readonly #read: readonly ((frame: Frame) => Result | undefined)[];
  readonly #only: ((frame: Frame) => Result | undefined) | undefined;
  readonly qualifiers: Qualifier[] = [];

  constructor(id: number, names: readonly string[], read: readonly ((frame: Frame) => Result | undefined)[]) {
    this.#id = id;
    this.#names = names;
    this.#read = read;
    this.#only = read.length === 1 ? read[0] : undefined;
  }

  get id(): number {
    return this.qualifiers.at(-1)?.id ?? this.#id;
  }

  get names(): readonly string[] {
    return this.#names;
  }

  qualify(qualifier: Qualifier): void {
    this.qualifiers.push(qualifier);
  }

  resolve(frame: Frame): Result {
    const found = this.find(frame);
    return found === undefined ? new EvaluationError(`no such attribute(s): ${this.#names.join(", ")}`) : found;
  }

  /** Returns undefined if there is no such variable. */
  find(frame: Frame): Result | undefined {
    if (this.#only !== undefined) {
      const value = this.#only(frame);
      if (value === undefined || this.qualifiers.length === 0 || isError(value)) return value;
      return applyQualifiers(frame, value, this.qualifiers);
    }
    for (const read of this.#read) {
      const value = read(frame);
      if (value !== undefined) return isError(value) ? value : applyQualifiers(frame, value, this.qualifiers);
    }
    return undefined;
  }
}

/** A name that no checker resolved: `a.b.c` may be a variable of that name, or a part of `a.b` or `a`. */
export class UncheckedAttribute implements Attribute {
  readonly #variable: (id: number, names: readonly string[]) => VariableAttribute;
  #candidates: VariableAttribute[];

  constructor(
    id: number,
    names: readonly string[],
    variable: (id: number, names: readonly string[]) => VariableAttribute,
  ) {
    this.#variable = variable;
    this.#candidates = [variable(id, names)];
  }

  get id(): number {
    return this.#candidates[0]?.id ?? 0;
  }

  qualify(qualifier: Qualifier): void {
    const { name } = qualifier;
    const longer: VariableAttribute[] = [];
    for (const candidate of this.#candidates) {
      if (name !== undefined && candidate.qualifiers.length === 0) {
        const names = candidate.names.map((prefix) => `${prefix}.${name}`);
        longer.push(this.#variable(qualifier.id, names));
      }
      candidate.qualify(qualifier);
    }
    this.#candidates = [...longer, ...this.#candidates];
  }

  resolve(frame: Frame): Result {
    for (const candidate of this.#candidates) {
      const found = candidate.find(frame);
      if (found !== undefined) return found;
    }
    return this.#candidates[0]?.resolve(frame) ?? null;
  }
}

/** A computed value with qualifiers. */
export class ComputedAttribute implements Attribute {
  readonly #id: number;
  readonly #operand: Step;
  readonly #qualifiers: Qualifier[] = [];

  constructor(id: number, operand: Step) {
    this.#id = id;
    this.#operand = operand;
  }

  get id(): number {
    return this.#qualifiers.at(-1)?.id ?? this.#id;
  }

  qualify(qualifier: Qualifier): void {
    this.#qualifiers.push(qualifier);
  }

  resolve(frame: Frame): Result {
    const value = this.#operand.run(frame);
    return isError(value) ? value : applyQualifiers(frame, value, this.#qualifiers);
  }
}

/** One of two attributes, by a condition. Only the one that is chosen is read. */
export class ConditionalAttribute implements Attribute {
  readonly #id: number;
  readonly #condition: Step;
  readonly #yes: Attribute;
  readonly #no: Attribute;

  constructor(id: number, condition: Step, yes: Attribute, no: Attribute) {
    this.#id = id;
    this.#condition = condition;
    this.#yes = yes;
    this.#no = no;
  }

  get id(): number {
    return this.#yes.id === this.#no.id ? this.#yes.id : this.#id;
  }

  qualify(qualifier: Qualifier): void {
    this.#yes.qualify(qualifier);
    this.#no.qualify(qualifier);
  }

  resolve(frame: Frame): Result {
    const condition = this.#condition.run(frame);
    if (condition === true) return this.#yes.resolve(frame);
    if (condition === false) return this.#no.resolve(frame);
    return isError(condition) ? condition : new EvaluationError("no such overload");
  }
}

function applyQualifiers(frame: Frame, start: Value, qualifiers: readonly Qualifier[]): Result {
  let value = start;
  let isOptional = false;
  if (value instanceof Optional) {
    if (value.content === undefined) return value;
    if (qualifiers.length === 0) return value;
    value = value.content;
    isOptional = true;
  }
  for (const qualifier of qualifiers) {
    isOptional ||= qualifier.isOptional;
    const next = isOptional ? qualifier.qualifyIfPresent(frame, value) : qualifier.qualify(frame, value);
    if (next === undefined) return Optional.none;
    if (isError(next)) return next;
    value = next;
  }
  return isOptional ? new Optional(value) : value;
}

/** A qualifier that is known when the program is made. */
export class ConstantQualifier implements Qualifier {
  readonly id: number;
  readonly isOptional: boolean;
  readonly #key: Value;

  constructor(id: number, key: Value, isOptional: boolean) {
    this.id = id;
    this.#key = key;
    this.isOptional = isOptional;
  }

  get name(): string | undefined {
    return typeof this.#key === "string" ? this.#key : undefined;
  }

  qualify(frame: Frame, value: Value): Result {
    const part = partOf(value, this.#key);
    frame.charge(1);
    return part;
  }

  qualifyIfPresent(frame: Frame, value: Value): Result | undefined {
    const part = partIfPresent(value, this.#key);
    if (part !== undefined && !isError(part)) frame.charge(1);
    return part;
  }
}

/** Asks whether a part is there: `has(a.b)`. */
export class PresenceQualifier implements Qualifier {
  readonly id: number;
  readonly isOptional = false;
  readonly name: string;

  constructor(id: number, name: string) {
    this.id = id;
    this.name = name;
  }

  qualify(frame: Frame, value: Value): Result {
    const part = partIfPresent(value, this.name);
    frame.charge(1);
    return part !== undefined && isError(part) ? part : part !== undefined;
  }

  qualifyIfPresent(frame: Frame, value: Value): Result | undefined {
    const part = partIfPresent(value, this.name);
    if (part !== undefined && !isError(part)) frame.charge(1);
    return part;
  }
}

/** A qualifier that is computed. */
export class ComputedQualifier implements Qualifier {
  readonly id: number;
  readonly isOptional: boolean;
  readonly name = undefined;
  readonly #key: { resolve(frame: Frame): Result };

  constructor(id: number, key: { resolve(frame: Frame): Result }, isOptional: boolean) {
    this.id = id;
    this.#key = key;
    this.isOptional = isOptional;
  }

  qualify(frame: Frame, value: Value): Result {
    const key = this.#key.resolve(frame);
    const part = isError(key) ? key : (keyError(key) ?? partOf(value, key));
    frame.charge(1);
    return part;
  }

  qualifyIfPresent(frame: Frame, value: Value): Result | undefined {
    const key = this.#key.resolve(frame);
    const part = isError(key) ? key : (keyError(key) ?? partIfPresent(value, key));
    if (part !== undefined && !isError(part)) frame.charge(1);
    return part;
  }
}

/** Returns the error of a key that nothing can be indexed with. */
export function keyError(key: Value): EvaluationError | undefined {
  if (typeof key !== "object" || key instanceof Uint) return undefined;
  return new EvaluationError(`invalid qualifier type: ${representationName(key)}`);
}

function partOf(value: Value, key: Value): Result {
  const part = partIfPresent(value, key);
  if (part !== undefined) return part;
  const problem = value instanceof List ? "index out of bounds" : "no such key";
  return new EvaluationError(`${problem}: ${displayText(key)}`);
}

function partIfPresent(value: Value, key: Value): Result | undefined {
  if (value instanceof ValueMap) return value.find(key);
  if (!(value instanceof List)) return undefined;
  const index = indexOf(key);
  if (typeof index !== "number") return index;
  return index >= 0 && index < value.size ? value.at(index) : undefined;
}

/** Reads a list index; doubles and unsigned numbers count if they are whole. */
function indexOf(key: Value): number | EvaluationError {
  if (typeof key === "bigint") return Number(key);
  if (typeof key === "number" && Number.isInteger(key)) return key;
  if (key instanceof Uint && key.value <= signedMax) return Number(key.value);
  if (typeof key === "number" || key instanceof Uint) {
    return new EvaluationError(`unsupported index value ${displayText(key)} in list`);
  }
  return new EvaluationError(`unsupported index type '${typeOfValue(key).name}' in list`);
}
