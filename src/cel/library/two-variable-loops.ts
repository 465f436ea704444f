import type { Library } from "../environment.ts";
import { spendWork } from "../limits.ts";
import type { Expr } from "../syntax/ast.ts";
import { operators } from "../syntax/ast.ts";
import {
  filtered,
  type Macro,
  type MacroError,
  type MacroFactory,
  macroKey,
  quantifierBody,
  variableName,
} from "../syntax/macros.ts";
import { mapOf, paramOf } from "../types/cel-type.ts";
import { overload } from "../types/declarations.ts";
import { displayText } from "../values/conversion.ts";
import { EntryMap, entriesOf, GrowingMap } from "../values/maps.ts";
import { EvaluationError, isError, noSuchOverload, type Result, type Value, ValueMap } from "../values/value.ts";

const key = paramOf("K");
const value = paramOf("V");
const map = mapOf(key, value);
const insertName = "cel.@mapInsert";
const refusal = "argument must be a simple name";

/** Loops over keys and values, or indices and elements: `all(k, v, …)`, `transformMap(k, v, …)`. */
export const twoVariableLoopsLibrary: Library = {
  macros: new Map<string, Macro>([
    [macroKey("all", 3, true), quantifier("all")],
    [macroKey("exists", 3, true), quantifier("exists")],
    [macroKey("existsOne", 3, true), quantifier("existsOne")],
    [macroKey("exists_one", 3, true), quantifier("existsOne")],
    ...["transformList", "transformMap", "transformMapEntry"].flatMap((name) => [
      [macroKey(name, 3, true), transformation(name)] as const,
      [macroKey(name, 4, true), transformation(name)] as const,
    ]),
  ]),
  functions: [
    {
      name: insertName,
      overloads: [
        overload("@mapInsert_map_key_value", [map, key, value], map, {
          variadic: ([target = null, entryKey = null, entryValue = null]) => insert(target, entryKey, entryValue),
        }),
        overload("@mapInsert_map_map", [map, map], map, { binary: insertAll }),
      ],
    },
  ],
};

function loopVariables([first, second]: readonly Expr[]):
  | MacroError
  | { readonly iterVar: string; readonly iterVar2: string } {
  if (first?.kind !== "ident") return { offset: first?.offset ?? -1, message: refusal };
  if (second?.kind !== "ident") return { offset: second?.offset ?? -1, message: refusal };
  if (first.name === second.name) {
    return { offset: second.offset, message: `duplicate variable name: ${first.name}` };
  }
  const iterVar = variableName(first, refusal);
  if (typeof iterVar !== "string") return iterVar;
  const iterVar2 = variableName(second, refusal);
  return typeof iterVar2 === "string" ? { iterVar, iterVar2 } : iterVar2;
}

function quantifier(kind: "all" | "exists" | "existsOne"): Macro {
  return (make, range, args) => {
    const variables = loopVariables(args);
    if ("message" in variables) return variables;
    const predicate = args[2];
    if (range === undefined || predicate === undefined) return undefined;
    return make.fold({ range, ...variables, ...quantifierBody(make, kind, predicate) });
  };
}

function transformation(name: string): Macro {
  return (make, range, args) => {
    const variables = loopVariables(args);
    if ("message" in variables) return variables;
    const transform = args.at(-1);
    if (range === undefined || transform === undefined) return undefined;
    const filter = args.length === 4 ? args[2] : undefined;
    const step = filtered(make, filter, insertion(make, name, variables.iterVar, transform));
    const accuInit = name === "transformList" ? make.list() : make.emptyMap();
    const condition = make.literal(true);
    return make.fold({ range, ...variables, accuInit, condition, step, result: make.accumulator() });
  };
}

function insertion(make: MacroFactory, name: string, keyName: string, transform: Expr): Expr {
  if (name === "transformList") return make.call(operators.add, make.accumulator(), make.list(transform));
  if (name === "transformMapEntry") return make.call(insertName, make.accumulator(), transform);
  return make.call(insertName, make.accumulator(), make.ident(keyName), transform);
}

function insert(target: Value, entryKey: Value, entryValue: Value): Result {
  if (!(target instanceof ValueMap)) return noSuchOverload;
  if (target.find(entryKey) !== undefined) {
    return new EvaluationError(`insert failed: key ${displayText(entryKey)} already exists`);
  }
  if (target instanceof GrowingMap) {
    target.set(entryKey, entryValue);
    return target;
  }
  spendWork(target.size);
  return new EntryMap([...entriesOf(target), [entryKey, entryValue]]);
}

function insertAll(target: Value, added: Value): Result {
  if (!(added instanceof ValueMap)) return noSuchOverload;
  let result: Result = target;
  for (const [entryKey, entryValue] of entriesOf(added)) {
    if (isError(entryValue)) return entryValue;
    result = insert(result, entryKey, entryValue);
    if (isError(result)) return result;
  }
  return result;
}
