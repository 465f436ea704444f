import type { Value } from "../values/value.ts";

interface Node {
  /** Numbered from 1 in the order of upstream's parser; error texts and estimates refer to it. */
  readonly id: number;
  /** Offset of the node in the source, in code units, for reports. */
  readonly offset: number;
}

export interface LiteralExpr extends Node {
  readonly kind: "literal";
  readonly value: Value;
}
export interface IdentExpr extends Node {
  readonly kind: "ident";
  readonly name: string;
}
export interface SelectExpr extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly testOnly: boolean;
}
export interface CallExpr extends Node {
  readonly kind: "call";
  readonly name: string;
  readonly target?: Expr;
  readonly args: readonly Expr[];
}
export interface ListExpr extends Node {
  readonly kind: "list";
  readonly elements: readonly Expr[];
  /** Indices of elements written `?e`. */
  readonly optional: ReadonlySet<number>;
}
export interface MapEntry extends Node {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}
export interface MapExpr extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}
export interface StructField extends Node {
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}
export interface StructExpr extends Node {
  readonly kind: "struct";
  readonly typeName: string;
  readonly fields: readonly StructField[];
}
/** A loop over `range`, which macros expand to. `iterVar2` is empty in loops with one variable. */
export interface FoldExpr extends Node {
  readonly kind: "fold";
  readonly range: Expr;
  readonly iterVar: string;
  readonly iterVar2: string;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}
/** Stands where the source had an error. */
export interface BrokenExpr extends Node {
  readonly kind: "broken";
}

export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | FoldExpr
  | BrokenExpr;

/** The variable that macros accumulate in; no source can name it. */
export const accumulatorName = "@result";
/** The name that older versions used; macros refuse it as a variable. */
export const formerAccumulatorName = "__result__";
/** The loop variable of folds that only bind a name. */
export const unusedVariableName = "#unused";

export const operators = {
  conditional: "_?_:_",
  and: "_&&_",
  or: "_||_",
  not: "!_",
  equals: "_==_",
  notEquals: "_!=_",
  less: "_<_",
  lessEquals: "_<=_",
  greater: "_>_",
  greaterEquals: "_>=_",
  add: "_+_",
  subtract: "_-_",
  multiply: "_*_",
  divide: "_/_",
  modulo: "_%_",
  negate: "-_",
  index: "_[_]",
  in: "@in",
  notStrictlyFalse: "@not_strictly_false",
  optionalIndex: "_[?_]",
  optionalSelect: "_?._",
} as const;

/** Calls `visit` for the node and all below it, parents first. */
export function walk(root: Expr, visit: (expr: Expr) => void): void {
  const pending: Expr[] = [root];
  for (let expr = pending.pop(); expr !== undefined; expr = pending.pop()) {
    visit(expr);
    pushChildren(expr, pending);
  }
}

/** Pushes the last child first, so that the first one is on top. */
function pushChildren(expr: Expr, pending: Expr[]): void {
  switch (expr.kind) {
    case "select":
      pending.push(expr.operand);
      return;
    case "call":
      pushAll(expr.args, pending);
      if (expr.target !== undefined) pending.push(expr.target);
      return;
    case "list":
      pushAll(expr.elements, pending);
      return;
    case "map":
      for (let at = expr.entries.length - 1; at >= 0; at--) {
        const { key, value } = expr.entries[at] as MapEntry;
        pending.push(value, key);
      }
      return;
    case "struct":
      for (let at = expr.fields.length - 1; at >= 0; at--) pending.push((expr.fields[at] as StructField).value);
      return;
    case "fold":
      pending.push(expr.result, expr.step, expr.condition, expr.accuInit, expr.range);
      return;
    default:
  }
}

function pushAll(parts: readonly Expr[], pending: Expr[]): void {
  for (let at = parts.length - 1; at >= 0; at--) pending.push(parts[at] as Expr);
}

/** Returns `a.b.c` for a chain of selections that begins with a name. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.testOnly) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}
