import type { Library } from "../environment.ts";
import { type Expr, unusedVariableName } from "../syntax/ast.ts";
import { type MacroError, type MacroFactory, macroKey } from "../syntax/macros.ts";

/** `cel.bind(x, value, expression)` evaluates the expression with a name for the value. */
export const bindingsLibrary: Library = {
  macros: new Map([[macroKey("bind", 3, true), expandBind]]),
};

/** Expands to a loop over nothing, whose accumulator is the variable. */
function expandBind(
  make: MacroFactory,
  target: Expr | undefined,
  [variable, value, result]: readonly Expr[],
): Expr | MacroError | undefined {
  if (target?.kind !== "ident" || target.name !== "cel") return undefined;
  if (variable === undefined || value === undefined || result === undefined) return undefined;
  if (variable.kind !== "ident") {
    return { offset: variable.offset, message: "cel.bind() variable names must be simple identifiers" };
  }
  return make.fold({
    range: make.list(),
    iterVar: unusedVariableName,
    accuVar: variable.name,
    accuInit: value,
    condition: make.literal(false),
    step: make.ident(variable.name),
    result,
  });
}
