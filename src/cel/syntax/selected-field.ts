import { type Expr, operators, walk } from "./ast.ts";

/** Reports whether an expression selects `field` of a variable, `operand.field` or `operand.?field`. */
export function selectsField(root: Expr, operand: string, field: string): boolean {
  let isFound = false;
  walk(root, (expr) => {
    if (expr.kind === "select") isFound ||= expr.field === field && isVariable(expr.operand, operand);
    if (expr.kind !== "call" || expr.name !== operators.optionalSelect) return;
    const [target, name] = expr.args;
    isFound ||= isVariable(target, operand) && name?.kind === "literal" && name.value === field;
  });
  return isFound;
}

function isVariable(expr: Expr | undefined, name: string): boolean {
  return expr?.kind === "ident" && expr.name === name;
}
