import {
  type CallExpr,
  type Expr,
  type FoldExpr,
  operators,
  qualifiedName,
  type SelectExpr,
  type StructExpr,
} from "../syntax/ast.ts";
import type { IssueList } from "../syntax/source.ts";
import { typeOfValue, type Value } from "../values/value.ts";
import {
  boolType,
  type CelType,
  dynType,
  errorType,
  formatType,
  intType,
  isDynamic,
  isOptionalType,
  listOf,
  mapOf,
  optionalOf,
  paramOf,
  sameType,
} from "./cel-type.ts";
import type { FunctionDeclaration, Overload } from "./declarations.ts";
import type { Named, Scope } from "./scope.ts";
import { mostGeneral, TypeBindings } from "./type-bindings.ts";
import { messageNameOf } from "./well-known-messages.ts";

/** The declaration that an identifier or a call was resolved to. */
export type Reference =
  | { readonly kind: "name"; readonly name: string; readonly constant?: Value }
  | { readonly kind: "function"; readonly overloads: readonly string[] };

export interface Checked {
  /** The tree with qualified names resolved: `a.b` may be one identifier, `math.f(x)` a function without target. */
  readonly expr: Expr;
  readonly types: ReadonlyMap<number, CelType>;
  readonly references: ReadonlyMap<number, Reference>;
}

/** The declarations that a checker uses. */
export interface Declarations {
  readonly scope: Scope;
  findFunction(name: string): FunctionDeclaration | undefined;
  isDisabled(overloadId: string): boolean;
  findStruct(name: string): CelType | undefined;
  findField(structName: string, field: string): CelType | undefined;
}

/** Checks an expression, and reports what is wrong with it. */
export function check(expr: Expr, declarations: Declarations, issues: IssueList): Checked {
  const checker = new Checker(declarations, issues);
  const checked = checker.check(expr);
  return { expr: checked, types: checker.finishTypes(), references: checker.references };
}

class Checker {
  readonly references = new Map<number, Reference>();
  readonly #types = new Map<number, CelType>();
  readonly #bindings = new TypeBindings();
  readonly #declarations: Declarations;
  readonly #issues: IssueList;
  #scope: Scope;
  #freeVariables = 0;

  constructor(declarations: Declarations, issues: IssueList) {
    this.#declarations = declarations;
    this.#issues = issues;
    this.#scope = declarations.scope;
  }

  finishTypes(): Map<number, CelType> {
    for (const [id, type] of this.#types) this.#types.set(id, this.#bindings.resolve(type, true));
    return this.#types;
  }

  check(expr: Expr): Expr {
    switch (expr.kind) {
      case "literal":
        return this.#typed(expr, typeOfValue(expr.value));
      case "ident":
        return this.#checkIdent(expr, expr.name);
      case "select":
        return this.#checkSelect(expr);
      case "call":
        return this.#checkCall(expr);
      case "list":
        return this.#checkList(expr);
      case "map":
        return this.#checkMap(expr);
      case "struct":
        return this.#checkStruct(expr);
      case "fold":
        return this.#checkFold(expr);
      case "broken":
        return this.#typed(expr, errorType);
    }
  }

  #typed<T extends Expr>(expr: T, type: CelType): T {
    this.#types.set(expr.id, type);
    return expr;
  }

  #typeOf(expr: Expr): CelType {
    return this.#types.get(expr.id) ?? errorType;
  }

  #checkIdent(expr: Expr, name: string): Expr {
    const known = this.#scope.find(name);
    if (known === undefined) {
      this.#issues.report(expr.offset, `undeclared reference to '${name}' (in container '${this.#scope.container}')`);
      return this.#typed(expr, errorType);
    }
    return this.#resolved(expr, known);
  }

  #resolved(expr: Expr, { name, type, constant }: Named): Expr {
    this.references.set(expr.id, constant === undefined ? { kind: "name", name } : { kind: "name", name, constant });
    return this.#typed({ kind: "ident", id: expr.id, offset: expr.offset, name }, type);
  }

  #checkSelect(expr: SelectExpr): Expr {
    const name = qualifiedName(expr);
    const known = name === undefined ? undefined : this.#scope.find(name);
    if (known !== undefined) return this.#resolved(expr, known);
    const operand = this.check(expr.operand);
    const result = this.#fieldType(expr, operand, expr.field, false);
    return this.#typed({ ...expr, operand }, expr.testOnly ? boolType : this.#bindings.resolve(result, false));
  }

  #fieldType(expr: Expr, operand: Expr, field: string, isOptional: boolean): CelType {
    const operandType = this.#bindings.resolve(this.#typeOf(operand), false);
    const target = isOptionalType(operandType) ? operandType.first : operandType;
    const result = this.#selected(expr, target, field);
    return isOptional || isOptionalType(operandType) ? optionalOf(result) : result;
  }

  #selected(expr: Expr, target: CelType, field: string): CelType {
    switch (target.kind) {
      case "map":
        return target.second;
      case "struct":
        return this.#structField(expr.offset, target.name, field) ?? errorType;
      case "param":
        this.#bindings.assign(dynType, target);
        return dynType;
      default:
        if (!isDynamic(target) && target.kind !== "error") {
          this.#issues.report(expr.offset, `type '${formatType(target)}' does not support field selection`);
        }
        return dynType;
    }
  }

  #structField(offset: number, structName: string, field: string): CelType | undefined {
    if (this.#declarations.findStruct(structName) === undefined) {
      this.#issues.report(offset, `unexpected failed resolution of '${structName}'`);
      return undefined;
    }
    const type = this.#declarations.findField(structName, field);
    if (type === undefined) this.#issues.report(offset, `undefined field '${field}'`);
    return type;
  }

  #checkOptionalSelect(expr: CallExpr): Expr {
    const [operandBefore, field] = expr.args;
    if (operandBefore === undefined || field?.kind !== "literal" || typeof field.value !== "string") return expr;
    const operand = this.check(operandBefore);
    const result = this.#fieldType(expr, operand, field.value, true);
    this.references.set(expr.id, { kind: "function", overloads: ["select_optional_field"] });
    return this.#typed({ ...expr, args: [operand, field] }, this.#bindings.resolve(result, false));
  }

  #checkCall(expr: CallExpr): Expr {
    if (expr.name === operators.optionalSelect) return this.#checkOptionalSelect(expr);
    const args = expr.args.map((arg) => this.check(arg));
    if (expr.target === undefined) return this.#checkGlobalCall({ ...expr, args }, expr.name);
    const prefix = qualifiedName(expr.target);
    const qualified = prefix === undefined ? undefined : this.#declarations.findFunction(`${prefix}.${expr.name}`);
    if (qualified !== undefined) {
      const { target: _, ...call } = expr;
      return this.#resolveCall({ ...call, name: qualified.name, args }, qualified, undefined);
    }
    const target = this.check(expr.target);
    const call = { ...expr, target, args };
    const found = this.#declarations.findFunction(expr.name);
    return found === undefined ? this.#undeclaredCall(call) : this.#resolveCall(call, found, target);
  }

  #checkGlobalCall(expr: CallExpr, name: string): Expr {
    const found = this.#declarations.findFunction(name);
    return found === undefined
      ? this.#undeclaredCall(expr)
      : this.#resolveCall({ ...expr, name: found.name }, found, undefined);
  }

  #undeclaredCall(expr: CallExpr): Expr {
    this.#issues.report(
      expr.offset,
      `undeclared reference to '${expr.name}' (in container '${this.#scope.container}')`,
    );
    return this.#typed(expr, errorType);
  }

  #resolveCall(expr: CallExpr, declared: FunctionDeclaration, target: Expr | undefined): Expr {
    const operands = target === undefined ? expr.args : [target, ...expr.args];
    const types = operands.map((operand) => this.#typeOf(operand));
    const isLogical = declared.name === operators.and || declared.name === operators.or;
    const resolution = isLogical
      ? this.#resolveLogical(declared, expr.args, types)
      : this.#resolveOverloads(declared, types, target !== undefined);
    if (resolution === undefined) {
      if (!isLogical) this.#reportNoOverload(expr, declared.name, types, target !== undefined);
      return this.#typed(expr, errorType);
    }
    this.references.set(expr.id, { kind: "function", overloads: resolution.overloads });
    return this.#typed(expr, resolution.type);
  }

  #resolveLogical(declared: FunctionDeclaration, args: readonly Expr[], types: readonly CelType[]) {
    let isValid = true;
    for (const [at, type] of types.entries()) {
      if (this.#bindings.assign(type, boolType)) continue;
      this.#issues.report(args[at]?.offset ?? -1, mismatch(boolType, type));
      isValid = false;
    }
    return isValid ? { overloads: declared.overloads.map(({ id }) => id), type: boolType } : undefined;
  }

  #resolveOverloads(declared: FunctionDeclaration, types: readonly CelType[], hasTarget: boolean) {
    const overloads: string[] = [];
    let result: CelType | undefined;
    for (const overload of declared.overloads) {
      if (overload.isMember !== hasTarget || this.#declarations.isDisabled(overload.id)) continue;
      const { params, type } = this.#instantiate(overload);
      if (!this.#bindings.assignAll(types, params)) continue;
      overloads.push(overload.id);
      const resolved = this.#bindings.resolve(type, false);
      if (result === undefined) result = resolved;
      else if (!isDynamic(result) && !sameType(resolved, result)) result = dynType;
    }
    return result === undefined ? undefined : { overloads, type: result };
  }

  /** Gives the overload type variables of its own. */
  #instantiate(overload: Overload): { readonly params: readonly CelType[]; readonly type: CelType } {
    if (overload.typeParams.length === 0) return { params: overload.params, type: overload.result };
    const fresh = new TypeBindings();
    for (const name of overload.typeParams) fresh.assign(this.#freeVariable(), paramOf(name));
    return {
      params: overload.params.map((param) => fresh.resolve(param, false)),
      type: fresh.resolve(overload.result, false),
    };
  }

  #freeVariable(): CelType {
    return paramOf(`_var${this.#freeVariables++}`);
  }

  #reportNoOverload(expr: CallExpr, name: string, types: readonly CelType[], hasTarget: boolean): void {
    const shown = types.map((type) => formatType(this.#bindings.resolve(type, true)));
    const target = hasTarget ? `${shown.shift() ?? ""}.` : "";
    const signature = `${target}(${shown.join(", ")})`;
    this.#issues.report(expr.offset, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  #checkList(expr: Expr & { readonly kind: "list" }): Expr {
    let type: CelType | undefined;
    const elements: Expr[] = [];
    for (const [at, element] of expr.elements.entries()) {
      const checked = this.check(element);
      elements.push(checked);
      const elementType = expr.optional.has(at) ? this.#unwrapped(checked) : this.#typeOf(checked);
      type = this.#join(type, elementType);
    }
    return this.#typed({ ...expr, elements }, listOf(type ?? this.#freeVariable()));
  }

  #unwrapped(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    if (isOptionalType(type)) return type.first;
    if (!isDynamic(type)) this.#issues.report(expr.offset, mismatch(optionalOf(type), type));
    return type;
  }

  #checkMap(expr: Expr & { readonly kind: "map" }): Expr {
    let keyType: CelType | undefined;
    let valueType: CelType | undefined;
    const entries = expr.entries.map((entry) => {
      const key = this.check(entry.key);
      keyType = this.#join(keyType, this.#typeOf(key));
      const value = this.check(entry.value);
      valueType = this.#join(valueType, entry.optional ? this.#unwrapped(value) : this.#typeOf(value));
      return { ...entry, key, value };
    });
    keyType ??= this.#freeVariable();
    valueType ??= this.#freeVariable();
    return this.#typed({ ...expr, entries }, mapOf(keyType, valueType));
  }

  /** Returns the type of a literal's elements so far. A later check refuses mixed ones. */
  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.#bindings.assign(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  #checkStruct(expr: StructExpr): Expr {
    const known = this.#scope.find(expr.typeName);
    if (known === undefined) {
      const container = this.#scope.container;
      this.#issues.report(expr.offset, `undeclared reference to '${expr.typeName}' (in container '${container}')`);
      return this.#typed(expr, errorType);
    }
    this.references.set(expr.id, { kind: "name", name: known.name });
    const { type, fieldsOf } = this.#constructed(expr, known.type, known.name);
    this.#typed(expr, type);
    const fields = expr.fields.map((field) => {
      const value = this.check(field.value);
      const declared = this.#structField(field.offset, fieldsOf, field.name) ?? errorType;
      const valueType = field.optional ? this.#unwrapped(value) : this.#typeOf(value);
      if (!this.#bindings.assign(declared, valueType)) {
        const message = `expected type of field '${field.name}' is '${formatType(declared)}' but provided type is`;
        this.#issues.report(field.offset, `${message} '${formatType(valueType)}'`);
      }
      return { ...field, value };
    });
    return { ...expr, typeName: known.name, fields };
  }

  #constructed(expr: StructExpr, type: CelType, name: string): { readonly type: CelType; readonly fieldsOf: string } {
    if (type.kind === "error") return { type: errorType, fieldsOf: name };
    if (type.kind !== "type") {
      this.#issues.report(expr.offset, `'${type.name}' is not a type`);
      return { type: errorType, fieldsOf: name };
    }
    const made = type.first;
    const message = messageNameOf(made);
    if (message !== undefined) return { type: made, fieldsOf: message };
    if (made.kind === "struct") return { type: made, fieldsOf: made.name };
    this.#issues.report(expr.offset, `'${made.name}' is not a message type`);
    return { type: errorType, fieldsOf: name };
  }

  #checkFold(expr: FoldExpr): Expr {
    const range = this.check(expr.range);
    const accuInit = this.check(expr.accuInit);
    const rangeType = this.#bindings.resolve(this.#typeOf(range), false);
    const accuType = this.#typeOf(accuInit);
    const outer = this.#scope;
    const withAccu = outer.with(new Map([[expr.accuVar, accuType]]));
    const variables = this.#loopVariables(expr, range, rangeType);
    this.#scope = withAccu.with(variables);
    const condition = this.check(expr.condition);
    this.#requireType(condition, boolType);
    const step = this.check(expr.step);
    this.#requireType(step, accuType);
    this.#scope = withAccu;
    const result = this.check(expr.result);
    this.#scope = outer;
    const checked = { ...expr, range, accuInit, condition, step, result };
    return this.#typed(checked, this.#bindings.resolve(this.#typeOf(result), false));
  }

  #loopVariables(expr: FoldExpr, range: Expr, rangeType: CelType): Map<string, CelType> {
    const [first, second] = this.#loopTypes(range, rangeType, expr.iterVar2 !== "");
    const variables = new Map([[expr.iterVar, first]]);
    if (expr.iterVar2 !== "") variables.set(expr.iterVar2, second);
    return variables;
  }

  #loopTypes(range: Expr, type: CelType, hasTwo: boolean): readonly [CelType, CelType] {
    switch (type.kind) {
      case "list":
        return hasTwo ? [intType, type.first] : [type.first, type.first];
      case "map":
        return [type.first, type.second];
      case "dyn":
      case "any":
      case "error":
      case "param":
        this.#bindings.assign(dynType, type);
        return [dynType, dynType];
      default: {
        const message = "cannot be range of a comprehension (must be list, map, or dynamic)";
        this.#issues.report(range.offset, `expression of type '${formatType(type)}' ${message}`);
        return [errorType, errorType];
      }
    }
  }

  #requireType(expr: Expr, type: CelType): void {
    if (!this.#bindings.assign(type, this.#typeOf(expr))) {
      this.#issues.report(expr.offset, mismatch(type, this.#typeOf(expr)));
    }
  }
}

function mismatch(expected: CelType, actual: CelType): string {
  return `expected type '${formatType(expected)}' but found '${formatType(actual)}'`;
}
