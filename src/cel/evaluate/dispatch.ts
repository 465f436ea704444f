import type { Binary, FunctionDeclaration, Overload, Trait, Unary, Variadic } from "../types/declarations.ts";
import { isInstance, unmatchedCall } from "../types/runtime-type.ts";
import type { Result, Value } from "../values/value.ts";

/** The code that a call runs, with its arguments checked. */
export interface Implementation {
  readonly unary?: Unary;
  readonly binary?: Binary;
  readonly variadic?: Variadic;
  readonly trait?: Trait;
}

/** Makes the table of implementations: by overload, and by function for calls whose overload depends on the values. */
export function implementationsOf(functions: Iterable<FunctionDeclaration>): Map<string, Implementation> {
  const table = new Map<string, Implementation>();
  for (const declared of functions) addFunction(table, declared);
  return table;
}

function addFunction(table: Map<string, Implementation>, declared: FunctionDeclaration): void {
  if (declared.shared !== undefined) {
    table.set(declared.name, declared.shared);
    return;
  }
  const bound = declared.overloads.filter(isBound);
  for (const overload of bound) table.set(overload.id, guarded(declared, overload));
  const [first, second] = bound;
  if (first !== undefined && second === undefined) table.set(declared.name, guarded(declared, first));
  else if (first !== undefined) table.set(declared.name, { variadic: chooser(declared, bound) });
}

function isBound({ unary, binary, variadic }: Overload): boolean {
  return unary !== undefined || binary !== undefined || variadic !== undefined;
}

function guarded(declared: FunctionDeclaration, overload: Overload): Implementation {
  const { name, unguarded } = declared;
  const { unary, binary, variadic, params } = overload;
  const [first, second] = params;
  if (unguarded) return overload;
  if (unary !== undefined && first !== undefined) {
    return { unary: (value) => (isInstance(first, value) ? unary(value) : unmatchedCall(name, [value])) };
  }
  if (binary !== undefined && first !== undefined && second !== undefined) {
    return {
      binary: (a, b) => (isInstance(first, a) && isInstance(second, b) ? binary(a, b) : unmatchedCall(name, [a, b])),
    };
  }
  if (variadic === undefined) return {};
  return { variadic: (values) => (matches(overload, values) ? variadic(values) : unmatchedCall(name, values)) };
}

function matches({ params }: Overload, values: readonly Value[]): boolean {
  return params.length === values.length && params.every((param, at) => isInstance(param, values[at] ?? null));
}

/** Returns code that runs the first overload which takes the values. */
function chooser(declared: FunctionDeclaration, overloads: readonly Overload[]): Variadic {
  const takes = (overload: Overload, values: readonly Value[]) =>
    overload.params.length === values.length && (declared.unguarded || matches(overload, values));
  return (values): Result => {
    const [first = null, second = null] = values;
    for (const overload of overloads) {
      if (!takes(overload, values)) continue;
      if (overload.unary !== undefined) return overload.unary(first);
      if (overload.binary !== undefined) return overload.binary(first, second);
      if (overload.variadic !== undefined) return overload.variadic(values);
    }
    return unmatchedCall(declared.name, values);
  };
}
