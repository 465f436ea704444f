import { compilePattern, PatternError } from "../../api/re2-pattern.ts";
import type { LiteralChecks } from "../environment.ts";
import { checkFormatCalls } from "../library/format-check.ts";
import { type CallExpr, type Expr, walk } from "../syntax/ast.ts";
import type { IssueList } from "../syntax/source.ts";
import { toDuration, toTimestamp } from "../values/conversion.ts";
import { isError, type Value } from "../values/value.ts";
import { type CelType, formatType, sameType } from "./cel-type.ts";
import type { Checked } from "./checker.ts";

/** Reports literals that cannot work: durations, times and patterns that cannot be read, elements of different types. */
export function checkLiterals(checked: Checked, checks: LiteralChecks, issues: IssueList): void {
  if (checks.literals) checkArguments(checked.expr, issues);
  checkElements(checked, issues, checks.formats ? "format" : undefined);
  if (checks.formats) checkFormatCalls(checked, issues);
}

/** Functions whose first argument has to be readable if it is a literal. */
const readers: ReadonlyMap<string, (value: Value) => boolean> = new Map([
  ["duration", (value) => !isError(toDuration(value))],
  ["timestamp", (value) => !isError(toTimestamp(value))],
  ["matches", isPattern],
]);

function checkArguments(root: Expr, issues: IssueList): void {
  const calls: CallExpr[] = [];
  walk(root, (expr) => {
    if (expr.kind === "call" && readers.has(expr.name)) calls.push(expr);
  });
  if (calls.length === 0) return;
  for (const [name, isValid] of readers) {
    for (const call of calls) {
      const [arg] = call.args;
      if (call.name !== name || arg?.kind !== "literal" || isValid(arg.value)) continue;
      issues.report(arg.offset, `invalid ${name} argument`);
    }
  }
}

function isPattern(value: Value): boolean {
  if (typeof value !== "string") return true;
  try {
    compilePattern(value);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

/** Reports elements of another type than the first one, except in the arguments of an exempt function. */
function checkElements({ expr: root, types }: Checked, issues: IssueList, exempt: string | undefined): void {
  const exempted = exempt === undefined ? new Set<Expr>() : argumentsOf(root, exempt);
  const typeOf = (expr: Expr, isOptional: boolean) => (isOptional ? types.get(expr.id)?.first : types.get(expr.id));
  walk(root, (expr) => {
    if (exempted.has(expr)) return;
    if (expr.kind === "list") {
      const elements = expr.elements.map((element, at) => ({
        expr: element,
        type: typeOf(element, expr.optional.has(at)),
      }));
      checkSameTypes(elements, issues, true);
    }
    if (expr.kind === "map") {
      checkSameTypes(
        expr.entries.map(({ key }) => ({ expr: key, type: typeOf(key, false) })),
        issues,
        false,
      );
      const values = expr.entries.map(({ value, optional }) => ({ expr: value, type: typeOf(value, optional) }));
      checkSameTypes(values, issues, false);
    }
  });
}

function checkSameTypes(
  elements: readonly { readonly expr: Expr; readonly type: CelType | undefined }[],
  issues: IssueList,
  stopsAtFirst: boolean,
): void {
  const expected = elements[0]?.type;
  if (expected === undefined) return;
  for (const { expr, type } of elements) {
    if (type === undefined || sameType(expected, type, false)) continue;
    issues.report(expr.offset, `expected type '${formatType(expected)}' but found '${formatType(type)}'`);
    if (stopsAtFirst) return;
  }
}

/** Returns everything inside calls of a function. */
function argumentsOf(root: Expr, name: string): Set<Expr> {
  const inside = new Set<Expr>();
  walk(root, (expr) => {
    if (expr.kind === "call" && expr.name === name) addAll(expr, inside);
  });
  return inside;
}

function addAll(call: CallExpr, inside: Set<Expr>): void {
  for (const part of [...(call.target === undefined ? [] : [call.target]), ...call.args]) {
    walk(part, (expr) => inside.add(expr));
  }
}
