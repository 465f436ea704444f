import type { Result, Value } from "../values/value.ts";
import type { CelType } from "./cel-type.ts";

export type Unary = (value: Value) => Result;
export type Binary = (a: Value, b: Value) => Result;
export type Variadic = (values: readonly Value[]) => Result;

/** The code behind an overload: at most one of the three. */
export interface Binding {
  readonly unary?: Unary;
  readonly binary?: Binary;
  readonly variadic?: Variadic;
}

/** The ability that the first operand of an operator must have. */
export type Trait =
  | "adds"
  | "compares"
  | "divides"
  | "has-size"
  | "indexes"
  | "matches"
  | "multiplies"
  | "negates"
  | "subtracts"
  | "takes-modulus"
  | "lists";

/** One signature of a function. */
export interface Overload extends Binding {
  readonly id: string;
  /** Whether it is called as `target.name(…)`; the target is then the first parameter. */
  readonly isMember: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly typeParams: readonly string[];
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads, in place of theirs. */
  readonly shared?: Binding & { readonly trait?: Trait };
  /** Whether values are not checked against the parameters at run time; the code does it. */
  readonly unguarded?: boolean;
}

export function overload(id: string, params: readonly CelType[], result: CelType, binding: Binding = {}): Overload {
  return { id, isMember: false, params, result, typeParams: typeParamsIn([result, ...params]), ...binding };
}

export function member(id: string, params: readonly CelType[], result: CelType, binding: Binding = {}): Overload {
  return { ...overload(id, params, result, binding), isMember: true };
}

function typeParamsIn(types: readonly CelType[]): readonly string[] {
  const names = new Set<string>();
  const visit = (type: CelType): void => {
    if (type.kind === "param") names.add(type.name);
    for (const parameter of type.parameters) visit(parameter);
  };
  for (const type of types) visit(type);
  return [...names];
}

/** Puts functions of the same name together; the overloads of the former come first. */
export function mergeFunctions(
  table: Map<string, FunctionDeclaration>,
  functions: readonly FunctionDeclaration[],
): void {
  for (const added of functions) {
    const known = table.get(added.name);
    table.set(
      added.name,
      known === undefined ? added : { ...known, ...added, overloads: [...known.overloads, ...added.overloads] },
    );
  }
}
