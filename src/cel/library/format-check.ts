import type { CallExpr, Expr } from "../syntax/ast.ts";
import { walk } from "../syntax/ast.ts";
import type { IssueList } from "../syntax/source.ts";
import type { TypeKind } from "../types/cel-type.ts";
import type { Checked } from "../types/checker.ts";
import { FormatError, formatPieces, type Verb, verbRefusal } from "./format-string.ts";

const kindsOf: Readonly<Record<Verb, readonly TypeKind[]>> = {
  s: "list map int uint double bool string timestamp bytes duration type null".split(" ") as TypeKind[],
  d: ["int", "uint"],
  f: ["double", "string"],
  e: ["double", "string"],
  b: ["int", "uint", "bool"],
  x: ["int", "uint", "string", "bytes"],
  X: ["int", "uint", "string", "bytes"],
  o: ["int", "uint"],
};

/** Reports formats that do not fit their arguments, where both are literals. */
export function checkFormatCalls(checked: Checked, issues: IssueList): void {
  walk(checked.expr, (expr) => {
    if (expr.kind === "call" && expr.name === "format") checkFormatCall(expr, checked, issues);
  });
}

function checkFormatCall(call: CallExpr, checked: Checked, issues: IssueList): void {
  const [list, more] = call.args;
  if (call.target?.kind !== "literal" || typeof call.target.value !== "string") return;
  if (list?.kind !== "list" || more !== undefined) return;
  const args = list.elements;
  let used = 0;
  try {
    for (const piece of formatPieces(call.target.value, () => args[used] !== undefined)) {
      if (typeof piece === "string") continue;
      const arg = args[used++];
      const bad = arg === undefined ? undefined : unfit(arg, piece.verb, checked);
      if (bad === undefined) continue;
      issues.report(bad.offset, verbRefusal(piece.verb, checked.types.get(bad.id)?.name ?? ""));
      return;
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    issues.report(call.offset, error.message);
    return;
  }
  if (args.length > used) {
    const counts = `(expected ${used}, got ${args.length})`;
    issues.report(call.offset, `too many arguments supplied to string.format ${counts}`);
  }
}

/** Returns the part of an argument that cannot be written so. */
function unfit(arg: Expr, verb: Verb, checked: Checked): Expr | undefined {
  const type = checked.types.get(arg.id);
  if (type === undefined || (type.kind !== "dyn" && !kindsOf[verb].includes(type.kind))) return arg;
  if (verb !== "s") return undefined;
  const parts =
    arg.kind === "list"
      ? arg.elements
      : arg.kind === "map"
        ? arg.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const bad = unfit(part, verb, checked);
    if (bad !== undefined) return bad;
  }
  return undefined;
}
