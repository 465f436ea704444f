import { codePointCount } from "../../api/code-points.ts";
import {
  accumulatorName,
  type CallExpr,
  type Expr,
  type FoldExpr,
  formerAccumulatorName,
  type SelectExpr,
} from "../syntax/ast.ts";
import { type CelType, dynType, isOptionalType } from "../types/cel-type.ts";
import type { Checked } from "../types/checker.ts";
import { Uint } from "../values/value.ts";
import { estimateCall, type Operand } from "./call-estimate.ts";
import { listCreationCost, mapCreationCost, structCreationCost, textTraversalFactor } from "./factors.ts";
import { Path } from "./path.ts";
import {
  addRanges,
  emptyUnion,
  fixed,
  multiplyRanges,
  type Range,
  scale,
  union,
  unitRange,
  unknownSize,
  wrapped,
  zeroRange,
} from "./range.ts";
import type { SizeLookup } from "./size-lookup.ts";

/** Estimates the cost of an evaluation without knowing the values. */
export function estimateCost(checked: Checked, sizes: SizeLookup = () => undefined): Range {
  return new Estimator(checked, sizes).cost(checked.expr);
}

interface EntrySizes {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

interface LocalVariable {
  readonly path: Path;
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

class Estimator {
  readonly #checked: Checked;
  readonly #lookup: SizeLookup;
  readonly #paths = new Map<number, Path>();
  readonly #sizes = new Map<number, Range>();
  readonly #entries = new Map<number, EntrySizes>();
  readonly #locals = new Map<string, LocalVariable[]>();

  constructor(checked: Checked, lookup: SizeLookup) {
    this.#checked = checked;
    this.#lookup = lookup;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "literal":
      case "broken":
        return zeroRange;
      case "ident":
        this.#paths.set(expr.id, this.#local(expr.name)?.path ?? Path.of(expr.name));
        return unitRange;
      case "select":
        return this.#costSelect(expr);
      case "call":
        return this.#costCall(expr);
      case "list":
        return this.#costList(expr);
      case "map":
        return this.#costMap(expr);
      case "struct":
        return addRanges(...expr.fields.map(({ value }) => this.cost(value)), fixed(structCreationCost));
      case "fold":
        return isBinding(expr) ? this.#costBinding(expr) : this.#costLoop(expr);
    }
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #push(name: string, variable: LocalVariable): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [variable]);
    else stack.push(variable);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.types.get(expr.id) ?? dynType;
  }

  #pathOf(expr: Expr): Path {
    const local = expr.kind === "ident" ? this.#local(expr.name) : undefined;
    return local?.path ?? this.#paths.get(expr.id) ?? Path.empty;
  }

  /** Returns the size of a value, if anything is known of it. */
  #sizeOf(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known !== undefined) return known;
    const path = this.#pathOf(expr).names;
    const declared = path.length === 0 ? undefined : this.#lookup(path);
    if (declared !== undefined) {
      this.#sizes.set(expr.id, declared);
      return declared;
    }
    if (isScalar(this.#typeOf(expr))) return unitRange;
    return expr.kind === "ident" ? this.#local(expr.name)?.size : undefined;
  }

  #sizeOrUnknown(expr: Expr): Range {
    return this.#sizeOf(expr) ?? unknownSize;
  }

  #entriesOf(expr: Expr): EntrySizes | undefined {
    const known = this.#entries.get(expr.id);
    if (known !== undefined) return known;
    return expr.kind === "ident" ? this.#local(expr.name)?.entries : undefined;
  }

  #costSelect(expr: SelectExpr): Range {
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    const { kind } = this.#typeOf(expr.operand);
    this.#paths.set(expr.id, this.#pathOf(expr.operand).extend(expr.field));
    return kind === "map" || kind === "struct" || kind === "param" ? addRanges(operand, unitRange) : operand;
  }

  #costList(expr: Expr & { readonly kind: "list" }): Range {
    let sum = zeroRange;
    let itemSize: Range = expr.elements.length === 0 ? zeroRange : emptyUnion;
    for (const element of expr.elements) {
      sum = addRanges(sum, this.cost(element));
      itemSize = union(itemSize, this.#sizeOrUnknown(element));
    }
    this.#entries.set(expr.id, { container: "list", key: unitRange, value: itemSize });
    return addRanges(sum, fixed(listCreationCost));
  }

  #costMap(expr: Expr & { readonly kind: "map" }): Range {
    let sum = zeroRange;
    let keySize: Range = expr.entries.length === 0 ? zeroRange : emptyUnion;
    let valueSize = keySize;
    for (const { key, value } of expr.entries) {
      sum = addRanges(sum, this.cost(key), this.cost(value));
      keySize = union(keySize, this.#sizeOrUnknown(key));
      valueSize = union(valueSize, this.#sizeOrUnknown(value));
    }
    this.#entries.set(expr.id, { container: "map", key: keySize, value: valueSize });
    return addRanges(sum, fixed(mapCreationCost));
  }

  #costBinding(expr: FoldExpr): Range {
    const sum = addRanges(this.cost(expr.range), this.cost(expr.accuInit));
    this.#pushValue(expr.accuVar, expr.accuInit);
    const total = addRanges(sum, this.cost(expr.result));
    this.#pop(expr.accuVar);
    this.#copySizes(expr, expr.result);
    return total;
  }

  #pushValue(name: string, value: Expr): void {
    const path = this.#pathOf(value);
    const entries = this.#entriesOf(value);
    this.#push(name, { path, size: this.#sizeOf(value), entries });
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from);
    if (size !== undefined) this.#sizes.set(to.id, size);
    const entries = this.#entriesOf(from);
    if (entries !== undefined) this.#entries.set(to.id, entries);
  }

  #costLoop(expr: FoldExpr): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.accuInit));
    this.#pushValue(expr.accuVar, expr.accuInit);
    if (expr.iterVar2 === "") this.#pushElement(expr.iterVar, expr.range);
    else this.#pushPair(expr);
    const loop = this.cost(expr.condition);
    const step = this.cost(expr.step);
    this.#pop(expr.iterVar);
    if (expr.iterVar2 !== "") this.#pop(expr.iterVar2);
    const result = this.cost(expr.result);
    this.#pop(expr.accuVar);
    const count = this.#sizeOrUnknown(expr.range);
    this.#setLoopSize(expr, count);
    return addRanges(before, result, multiplyRanges(count, addRanges(step, loop)));
  }

  #setLoopSize(expr: FoldExpr, count: Range): void {
    const { kind } = expr.accuInit;
    if (kind === "literal") {
      const size = this.#sizeOf(expr.accuInit);
      if (size !== undefined) this.#sizes.set(expr.id, size);
    } else if (kind === "list" || kind === "map") {
      this.#sizes.set(expr.id, count);
      const entries = this.#entriesOf(expr.step);
      if (entries !== undefined) this.#entries.set(expr.id, entries);
    }
  }

  #containerOf(range: Expr, entries: EntrySizes | undefined): string {
    return entries?.container ?? this.#typeOf(range).kind;
  }

  /** Declares the one variable of a loop: elements of lists, keys of maps. */
  #pushElement(name: string, range: Expr): void {
    const entries = this.#entriesOf(range);
    const isList = this.#containerOf(range, entries) === "list";
    const size = isList ? entries?.value : entries?.key;
    this.#push(name, { path: this.#pathOf(range).extend(isList ? "@items" : "@keys"), size, entries: undefined });
  }

  #pushPair({ iterVar, iterVar2, range }: FoldExpr): void {
    const entries = this.#entriesOf(range);
    const isList = this.#containerOf(range, entries) === "list";
    const keyPath = this.#pathOf(range).extend(isList ? "@indices" : "@keys");
    this.#push(iterVar, { path: keyPath, size: entries?.key, entries: undefined });
    const valuePath = this.#pathOf(range).extend(isList ? "@items" : "@values");
    this.#push(iterVar2, { path: valuePath, size: entries?.value, entries: undefined });
  }

  #operand(expr: Expr): Operand {
    const { names } = this.#pathOf(expr);
    const isAccumulator = names[0] === accumulatorName || names[0] === formerAccumulatorName;
    return { expr, type: this.#typeOf(expr), path: isAccumulator ? [] : names, size: this.#sizeOf(expr) };
  }

  #costCall(expr: CallExpr): Range {
    const [only] = expr.args;
    if (expr.name === "dyn" && only !== undefined) {
      const cost = addRanges(unitRange, this.cost(only));
      this.#copySizes(expr, only);
      return cost;
    }
    const argCosts: Range[] = [];
    const args = expr.args.map((arg) => {
      argCosts.push(this.cost(arg));
      return this.#operand(arg);
    });
    const reference = this.#checked.references.get(expr.id);
    const overloads = reference?.kind === "function" ? reference.overloads : [];
    if (overloads.length === 0) return zeroRange;
    const targetCost = expr.target === undefined ? zeroRange : this.cost(expr.target);
    const target = expr.target === undefined ? undefined : this.#operand(expr.target);
    return addRanges(targetCost, this.#costOverloads(expr, overloads, target, args, argCosts));
  }

  #costOverloads(
    expr: CallExpr,
    overloads: readonly string[],
    target: Operand | undefined,
    args: readonly Operand[],
    argCosts: readonly Range[],
  ): Range {
    let cost = emptyUnion;
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate = this.#functionCost(expr, overload, target, args, argCosts);
      cost = union(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      const [container] = expr.args;
      if (container !== undefined && (overload === "index_list" || overload === "index_map")) {
        size = this.#entriesOf(container)?.value;
        this.#paths.set(expr.id, this.#pathOf(container).extend(overload === "index_list" ? "@items" : "@values"));
      }
      size ??= this.#sizeOf(expr);
    }
    if (size !== undefined) this.#sizes.set(expr.id, size);
    return cost;
  }

  #functionCost(
    expr: CallExpr,
    overload: string,
    target: Operand | undefined,
    args: readonly Operand[],
    argCosts: readonly Range[],
  ): { readonly cost: Range; readonly size?: Range | undefined } {
    const allArgs = addRanges(...argCosts);
    const known = estimateCall(expr.name, overload, target, args, this.#lookup);
    if (known !== undefined) return { cost: addRanges(known.cost, allArgs), size: known.size };
    const sizeOf = (operand: Operand | undefined) => operand?.size ?? unknownSize;
    const [first, second, third] = args;
    const traversal = (size: Range) => addRanges(scale(size, textTraversalFactor), allArgs);
    switch (overload) {
      case "string_format":
        if (target !== undefined) return { cost: traversal(sizeOf(target)) };
        break;
      case "string_to_bytes": {
        const size = sizeOf(first);
        return { cost: traversal(size), size: { min: size.min, max: wrapped(size.max * 4n) } };
      }
      case "bytes_to_string": {
        const size = sizeOf(first);
        return { cost: traversal(size), size: { min: size.min / 4n, max: size.max } };
      }
      case "strings_quote": {
        const size = sizeOf(first);
        return { cost: traversal(size), size: { min: wrapped(size.min + 2n), max: wrapped(size.max * 2n + 2n) } };
      }
      case "starts_with_string":
      case "ends_with_string":
        return { cost: traversal(sizeOf(first)) };
      case "in_list":
        return { cost: addRanges(scale(sizeOf(second), 1), allArgs) };
      case "matches_string":
      case "contains_string":
        if (target !== undefined)
          return { cost: addRanges(searchCost(overload, sizeOf(target), sizeOf(first)), allArgs) };
        break;
      case "logical_or":
      case "logical_and":
        return { cost: { min: argCosts[0]?.min ?? 0n, max: allArgs.max } };
      case "conditional":
        if (second !== undefined && third !== undefined) return this.#conditional(expr, second, third, argCosts);
        break;
      case "add_string":
      case "add_bytes":
      case "add_list":
        if (first !== undefined && second !== undefined) {
          const size = addRanges(sizeOf(first), sizeOf(second));
          this.#joinEntries(expr, first, second);
          return { cost: overload === "add_list" ? addRanges(unitRange, allArgs) : traversal(size), size };
        }
        break;
      default:
        if (isComparison(overload)) return { cost: traversal(comparisonSize(sizeOf(first), sizeOf(second))) };
    }
    return { cost: addRanges(unitRange, allArgs) };
  }

  #conditional(expr: CallExpr, yes: Operand, no: Operand, [condition, yesCost, noCost]: readonly Range[]) {
    const size = union(yes.size ?? unknownSize, no.size ?? unknownSize);
    this.#joinEntries(expr, yes, no);
    const branches = union(yesCost ?? zeroRange, noCost ?? zeroRange);
    return { cost: addRanges(condition ?? zeroRange, branches), size };
  }

  /** Notes what elements the value has that is made of two others. */
  #joinEntries(expr: CallExpr, a: Operand, b: Operand): void {
    const left = this.#entriesOf(a.expr);
    const right = this.#entriesOf(b.expr);
    if (left === undefined || right === undefined) return;
    const entries = {
      container: left.container,
      key: union(left.key, right.key),
      value: union(left.value, right.value),
    };
    this.#entries.set(expr.id, entries);
  }
}

function searchCost(overload: string, text: Range, part: Range): Range {
  if (overload === "contains_string") {
    return multiplyRanges(scale(text, textTraversalFactor), scale(part, textTraversalFactor));
  }
  return multiplyRanges(scale(addRanges(text, unitRange), textTraversalFactor), scale(part, 0.25));
}

function isComparison(overload: string): boolean {
  return (
    overload === "equals" ||
    overload === "not_equals" ||
    /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(overload)
  );
}

function comparisonSize(a: Range, b: Range): Range {
  const max = a.max < b.max ? a.max : b.max;
  return { min: max > 0n ? 1n : 0n, max };
}

/** Reports whether a loop only gives a value a name. */
function isBinding({ range, condition, accuVar }: FoldExpr): boolean {
  const isEmpty = range.kind === "list" && range.elements.length === 0;
  const neverRuns = condition.kind === "literal" && condition.value === false;
  return isEmpty && neverRuns && accuVar !== formerAccumulatorName;
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === "list") return fixed(expr.elements.length);
  if (expr.kind === "map") return fixed(expr.entries.length);
  if (expr.kind !== "literal") return undefined;
  const { value } = expr;
  if (typeof value === "string") return fixed(codePointCount(value));
  if (value instanceof Uint8Array) return fixed(value.length);
  return value === null || typeof value !== "object" || value instanceof Uint ? unitRange : undefined;
}

function isScalar(type: CelType): boolean {
  if (isOptionalType(type)) return type.parameters.length > 0 && isScalar(type.first);
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind);
}
