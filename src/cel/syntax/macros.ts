import type { Value } from "../values/value.ts";
import { accumulatorName, type Expr, formerAccumulatorName, type LiteralExpr, operators } from "./ast.ts";

/** Why a macro cannot be expanded. */
export interface MacroError {
  readonly offset: number;
  readonly message: string;
}

/** Rewrites a call before it is checked; undefined leaves it a call. */
export type Macro = (
  make: MacroFactory,
  target: Expr | undefined,
  args: readonly Expr[],
) => Expr | MacroError | undefined;

/** Macros by name, number of arguments, and whether they are called on a target. */
export type MacroTable = ReadonlyMap<string, Macro>;

export function macroKey(name: string, argCount: number, hasTarget: boolean): string {
  return `${name}:${argCount}:${hasTarget}`;
}

export function macroFor(table: MacroTable, name: string, argCount: number, hasTarget: boolean): Macro | undefined {
  return table.get(macroKey(name, argCount, hasTarget));
}

/** Macros may copy their target, so a short text can have very many parts; one with more is refused. */
const partsMax = 20_000;

export class ComplexityError extends Error {
  constructor() {
    super(`expression has too many parts: limit ${partsMax}`);
    this.name = "ComplexityError";
  }
}

/** Makes nodes, numbered in the order in which they are made. Nodes of a macro have the position of its call. */
export class MacroFactory {
  #nextId = 1;
  #offset = 0;
  /** By number. */
  readonly #offsets: number[] = [];

  at(offset: number): this {
    this.#offset = offset;
    return this;
  }

  /** @throws ComplexityError */
  nextId(offset: number): number {
    if (this.#nextId > partsMax) throw new ComplexityError();
    this.#offsets[this.#nextId] = offset;
    return this.#nextId++;
  }

  offsetOf(id: number): number {
    return this.#offsets[id] ?? -1;
  }

  /** Gives back the number of a call that was expanded, if it is the last one. */
  releaseId(id: number): void {
    this.#offsets[id] = -1;
    if (id === this.#nextId - 1) this.#nextId--;
  }

  #place(): { readonly id: number; readonly offset: number } {
    return { id: this.nextId(this.#offset), offset: this.#offset };
  }

  literal(value: Value): LiteralExpr {
    return { kind: "literal", ...this.#place(), value };
  }

  ident(name: string): Expr {
    return { kind: "ident", ...this.#place(), name };
  }

  accumulator(): Expr {
    return this.ident(accumulatorName);
  }

  list(...elements: Expr[]): Expr {
    return { kind: "list", ...this.#place(), elements, optional: new Set() };
  }

  emptyMap(): Expr {
    return { kind: "map", ...this.#place(), entries: [] };
  }

  call(name: string, ...args: Expr[]): Expr {
    return { kind: "call", ...this.#place(), name, args };
  }

  memberCall(name: string, target: Expr, ...args: Expr[]): Expr {
    return { kind: "call", ...this.#place(), name, target, args };
  }

  presenceTest(operand: Expr, field: string): Expr {
    return { kind: "select", ...this.#place(), operand, field, testOnly: true };
  }

  fold(parts: FoldParts): Expr {
    return { kind: "fold", ...this.#place(), iterVar2: "", accuVar: accumulatorName, ...parts };
  }

  /** Copies a tree, with numbers of its own. */
  copy(expr: Expr): Expr {
    const place = { id: this.nextId(expr.offset), offset: expr.offset };
    switch (expr.kind) {
      case "select":
        return { ...expr, ...place, operand: this.copy(expr.operand) };
      case "call": {
        const args = expr.args.map((arg) => this.copy(arg));
        if (expr.target === undefined) return { ...expr, ...place, args };
        return { ...expr, ...place, args, target: this.copy(expr.target) };
      }
      case "list":
        return { ...expr, ...place, elements: expr.elements.map((element) => this.copy(element)) };
      case "map":
        return {
          ...expr,
          ...place,
          entries: expr.entries.map((entry) => ({
            ...entry,
            ...this.#place(),
            key: this.copy(entry.key),
            value: this.copy(entry.value),
          })),
        };
      case "struct":
        return {
          ...expr,
          ...place,
          fields: expr.fields.map((field) => ({ ...field, ...this.#place(), value: this.copy(field.value) })),
        };
      case "fold":
        return {
          ...expr,
          ...place,
          range: this.copy(expr.range),
          accuInit: this.copy(expr.accuInit),
          condition: this.copy(expr.condition),
          step: this.copy(expr.step),
          result: this.copy(expr.result),
        };
      default:
        return { ...expr, ...place };
    }
  }
}

interface FoldParts {
  readonly range: Expr;
  readonly iterVar: string;
  readonly iterVar2?: string;
  readonly accuVar?: string;
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** Returns the name that an argument of a macro declares, or why it cannot. */
export function variableName(arg: Expr | undefined, refusal: string): string | MacroError {
  if (arg?.kind !== "ident") return { offset: arg?.offset ?? -1, message: refusal };
  if (arg.name === accumulatorName || arg.name === formerAccumulatorName) {
    return { offset: arg.offset, message: "iteration variable overwrites accumulator variable" };
  }
  return arg.name;
}

const simpleNameRefusal = "argument must be a simple name";

/** `has`, and the loops with one variable. */
export const standardMacros: MacroTable = new Map<string, Macro>([
  [macroKey("has", 1, false), expandHas],
  [macroKey("all", 2, true), (make, target, args) => quantifier(make, "all", target, args)],
  [macroKey("exists", 2, true), (make, target, args) => quantifier(make, "exists", target, args)],
  [macroKey("exists_one", 2, true), (make, target, args) => quantifier(make, "existsOne", target, args)],
  [macroKey("map", 2, true), expandMap],
  [macroKey("map", 3, true), expandMap],
  [macroKey("filter", 2, true), expandFilter],
]);

function expandHas(make: MacroFactory, _target: Expr | undefined, [arg]: readonly Expr[]): Expr | MacroError {
  if (arg?.kind === "select") return make.presenceTest(arg.operand, arg.field);
  return { offset: arg?.offset ?? -1, message: "invalid argument to has() macro" };
}

export interface LoopBody {
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** Makes the parts of `all`, `exists` and `existsOne` for one predicate. */
export function quantifierBody(make: MacroFactory, kind: "all" | "exists" | "existsOne", predicate: Expr): LoopBody {
  if (kind === "all") {
    const accuInit = make.literal(true);
    const condition = make.call(operators.notStrictlyFalse, make.accumulator());
    const step = make.call(operators.and, make.accumulator(), predicate);
    return { accuInit, condition, step, result: make.accumulator() };
  }
  if (kind === "exists") {
    const accuInit = make.literal(false);
    const condition = make.call(operators.notStrictlyFalse, make.call(operators.not, make.accumulator()));
    const step = make.call(operators.or, make.accumulator(), predicate);
    return { accuInit, condition, step, result: make.accumulator() };
  }
  const accuInit = make.literal(0n);
  const condition = make.literal(true);
  const increment = make.call(operators.add, make.accumulator(), make.literal(1n));
  const step = make.call(operators.conditional, predicate, increment, make.accumulator());
  return { accuInit, condition, step, result: make.call(operators.equals, make.accumulator(), make.literal(1n)) };
}

function quantifier(
  make: MacroFactory,
  kind: "all" | "exists" | "existsOne",
  range: Expr | undefined,
  [variable, predicate]: readonly Expr[],
): Expr | MacroError | undefined {
  if (range === undefined || predicate === undefined) return undefined;
  const iterVar = variableName(variable, simpleNameRefusal);
  if (typeof iterVar !== "string") return iterVar;
  return make.fold({ range, iterVar, ...quantifierBody(make, kind, predicate) });
}

/** Expands `map(x, f)` and `map(x, p, f)`. */
export function expandMap(
  make: MacroFactory,
  range: Expr | undefined,
  args: readonly Expr[],
): Expr | MacroError | undefined {
  const transform = args.at(-1);
  const filter = args.length === 3 ? args[1] : undefined;
  if (range === undefined || transform === undefined) return undefined;
  const iterVar = variableName(args[0], "argument is not an identifier");
  if (typeof iterVar !== "string") return iterVar;
  const accuInit = make.list();
  const condition = make.literal(true);
  const step = filtered(make, filter, make.call(operators.add, make.accumulator(), make.list(transform)));
  return make.fold({ range, iterVar, accuInit, condition, step, result: make.accumulator() });
}

/** Returns the step of a loop that leaves the accumulator unchanged if the filter is false. */
export function filtered(make: MacroFactory, filter: Expr | undefined, step: Expr): Expr {
  return filter === undefined ? step : make.call(operators.conditional, filter, step, make.accumulator());
}

function expandFilter(
  make: MacroFactory,
  range: Expr | undefined,
  [variable, filter]: readonly Expr[],
): Expr | MacroError | undefined {
  if (range === undefined || variable === undefined || filter === undefined) return undefined;
  const iterVar = variableName(variable, "argument is not an identifier");
  if (typeof iterVar !== "string") return iterVar;
  const accuInit = make.list();
  const condition = make.literal(true);
  const append = make.call(operators.add, make.accumulator(), make.list(variable));
  const step = make.call(operators.conditional, filter, append, make.accumulator());
  return make.fold({ range, iterVar, accuInit, condition, step, result: make.accumulator() });
}
