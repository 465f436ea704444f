import type { Library } from "../environment.ts";
import { boolType, listOf, paramOf } from "../types/cel-type.ts";
import { type Binary, type FunctionDeclaration, overload } from "../types/declarations.ts";
import { itemsOf, listContains } from "../values/lists.ts";
import { isError, List, noSuchOverload, type Result, type Value } from "../values/value.ts";

const list = listOf(paramOf("T"));

/** Lists as sets: `sets.contains`, `sets.equivalent`, `sets.intersects`. */
export const setsLibrary: Library = {
  functions: [
    declare("contains", contains),
    declare("equivalent", (a, b) => {
      const holds = contains(a, b);
      return holds === true ? contains(b, a) : holds;
    }),
    declare("intersects", intersects),
  ],
};

function declare(name: string, binary: Binary): FunctionDeclaration {
  return { name: `sets.${name}`, overloads: [overload(`list_sets_${name}_list`, [list, list], boolType, { binary })] };
}

function contains(all: Value, some: Value): Result {
  if (!(all instanceof List) || !(some instanceof List)) return noSuchOverload;
  for (const item of itemsOf(some)) {
    const found = isError(item) ? false : listContains(all, item);
    if (found !== true) return found;
  }
  return true;
}

function intersects(a: Value, b: Value): Result {
  if (!(a instanceof List) || !(b instanceof List)) return noSuchOverload;
  for (const item of itemsOf(a)) {
    if (!isError(item) && listContains(b, item) === true) return true;
  }
  return false;
}
