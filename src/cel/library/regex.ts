import type { Library } from "../environment.ts";
import { spendWork } from "../limits.ts";
import { intType, listOf, stringType } from "../types/cel-type.ts";
import { member } from "../types/declarations.ts";
import { ArrayList } from "../values/lists.ts";
import { noSuchOverload, type Result, type Value } from "../values/value.ts";
import { withPattern } from "./pattern.ts";

/** Finding a match takes this much longer than a step of other work. */
const stepsPerMatch = 48;
const illegalPattern = "Illegal regex: ";

/** `text.find(pattern)` and `text.findAll(pattern)`. */
export const regexLibrary: Library = {
  functions: [
    {
      name: "find",
      overloads: [member("string_find_string", [stringType, stringType], stringType, { binary: find })],
    },
    {
      name: "findAll",
      overloads: [
        member("string_find_all_string", [stringType, stringType], listOf(stringType), {
          binary: (text, pattern) => findAll(text, pattern, -1n),
        }),
        member("string_find_all_string_int", [stringType, stringType, intType], listOf(stringType), {
          variadic: ([text = null, pattern = null, limit = null]) => findAll(text, pattern, limit),
        }),
      ],
    },
  ],
};

function find(text: Value, pattern: Value): Result {
  if (typeof text !== "string" || typeof pattern !== "string") return noSuchOverload;
  return withPattern(pattern, illegalPattern, (compiled) => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? (matcher.group() ?? "") : "";
  });
}

function findAll(text: Value, pattern: Value, limit: Value): Result {
  if (typeof text !== "string" || typeof pattern !== "string" || typeof limit !== "bigint") return noSuchOverload;
  const countMax = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  return withPattern(pattern, illegalPattern, (compiled) => {
    const matcher = compiled.matcher(text);
    const found: string[] = [];
    let lastEnd = -1;
    while (found.length < countMax && matcher.find()) {
      // An empty match right behind another match does not count.
      if (matcher.end() === matcher.start() && matcher.start() === lastEnd) continue;
      spendWork(stepsPerMatch);
      lastEnd = matcher.end();
      found.push(matcher.group() ?? "");
    }
    return new ArrayList(found);
  });
}
