import { codePointCount, isPlain } from "../../api/code-points.ts";
import { quoteLiteral } from "../../api/go-literal.ts";
import type { Library } from "../environment.ts";
import { spendWork } from "../limits.ts";
import { dynType, intType, listOf, stringType } from "../types/cel-type.ts";
import { type FunctionDeclaration, member, overload } from "../types/declarations.ts";
import { displayText } from "../values/conversion.ts";
import { ArrayList, itemsOf } from "../values/lists.ts";
import { EvaluationError, isError, List, noSuchOverload, type Result, type Value } from "../values/value.ts";
import { formatText } from "./format-string.ts";

const listOfStrings = listOf(stringType);
const charactersPerWorkStep = 16;

const baseFunctions: readonly FunctionDeclaration[] = [
  {
    name: "charAt",
    overloads: [member("string_char_at_int", [stringType, intType], stringType, { binary: charAt })],
  },
  {
    name: "indexOf",
    overloads: [
      member("string_index_of_string", [stringType, stringType], intType, {
        binary: (text, part) => indexOf(text, part, 0n),
      }),
      member("string_index_of_string_int", [stringType, stringType, intType], intType, {
        variadic: ([text = null, part = null, from = null]) => indexOf(text, part, from),
      }),
    ],
  },
  {
    name: "lastIndexOf",
    overloads: [
      member("string_last_index_of_string", [stringType, stringType], intType, { binary: lastIndexOfAll }),
      member("string_last_index_of_string_int", [stringType, stringType, intType], intType, {
        variadic: ([text = null, part = null, from = null]) => lastIndexOf(text, part, from),
      }),
    ],
  },
  textFunction("lowerAscii", "string_lower_ascii", (text) => text.replaceAll(/[A-Z]+/g, (part) => part.toLowerCase())),
  {
    name: "replace",
    overloads: [
      member("string_replace_string_string", [stringType, stringType, stringType], stringType, { variadic: replace }),
      member("string_replace_string_string_int", [stringType, stringType, stringType, intType], stringType, {
        variadic: replace,
      }),
    ],
  },
  {
    name: "split",
    overloads: [
      member("string_split_string", [stringType, stringType], listOfStrings, {
        binary: (text, separator) => split([text, separator]),
      }),
      member("string_split_string_int", [stringType, stringType, intType], listOfStrings, { variadic: split }),
    ],
  },
  {
    name: "substring",
    overloads: [
      member("string_substring_int", [stringType, intType], stringType, {
        binary: (text, start) => substring([text, start]),
      }),
      member("string_substring_int_int", [stringType, intType, intType], stringType, { variadic: substring }),
    ],
  },
  textFunction("trim", "string_trim", trim),
  textFunction("upperAscii", "string_upper_ascii", (text) => text.replaceAll(/[a-z]+/g, (part) => part.toUpperCase())),
  {
    name: "join",
    overloads: [
      member("list_join", [listOfStrings], stringType, { unary: (list) => join(list, "") }),
      member("list_join_string", [listOfStrings, stringType], stringType, { binary: join }),
    ],
  },
];

/** Functions of strings, as they were at first. */
export const stringsLibrary0: Library = { functions: baseFunctions };

/** Functions of strings, with formats and quoting. */
export const stringsLibrary2: Library = {
  functions: [
    ...baseFunctions,
    {
      name: "format",
      overloads: [
        member("string_format", [stringType, listOf(dynType)], stringType, {
          variadic: ([pattern, args]) =>
            typeof pattern === "string" && args instanceof List ? formatText(pattern, args) : noSuchOverload,
        }),
      ],
    },
    {
      name: "strings.quote",
      overloads: [
        overload("strings_quote", [stringType], stringType, {
          unary: (text) => (typeof text === "string" ? quoteLiteral(text) : noSuchOverload),
        }),
      ],
    },
  ],
};

function textFunction(name: string, id: string, apply: (text: string) => string): FunctionDeclaration {
  return {
    name,
    overloads: [
      member(id, [stringType], stringType, {
        unary: (text) => (typeof text === "string" ? apply(text) : noSuchOverload),
      }),
    ],
  };
}

function outOfRange(index: Value): EvaluationError {
  return new EvaluationError(`index out of range: ${displayText(index)}`);
}

/** A text by code points. Those of one unit each need no copy. */
class Characters {
  readonly #text: string;
  readonly #points: readonly string[] | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#points = isPlain(text) ? undefined : [...text];
  }

  get length(): number {
    return this.#points?.length ?? this.#text.length;
  }

  slice(from: number, to?: number): string {
    return this.#points?.slice(from, to).join("") ?? this.#text.slice(from, to);
  }

  /** Returns the index, in characters, of an index in code units. */
  indexAt(unit: number): number {
    return this.#points === undefined || unit < 0 ? unit : codePointCount(this.#text.slice(0, unit));
  }

  /** Returns the index, in code units, of a character. */
  unitAt(index: number): number {
    return this.#points?.slice(0, index).join("").length ?? index;
  }
}

function charAt(text: Value, index: Value): Result {
  if (typeof text !== "string" || typeof index !== "bigint") return noSuchOverload;
  const characters = new Characters(text);
  if (index < 0n || index > characters.length) return outOfRange(index);
  return characters.slice(Number(index), Number(index) + 1);
}

function indexOf(text: Value, part: Value, from: Value): Result {
  if (typeof text !== "string" || typeof part !== "string" || typeof from !== "bigint") return noSuchOverload;
  if (part === "") return from;
  if (from < 0n) return outOfRange(from);
  const characters = new Characters(text);
  if (from >= characters.length) return -1n;
  return BigInt(characters.indexAt(text.indexOf(part, characters.unitAt(Number(from)))));
}

function lastIndexOfAll(text: Value, part: Value): Result {
  if (typeof text !== "string" || typeof part !== "string") return noSuchOverload;
  const { length } = new Characters(text);
  if (part === "") return BigInt(length);
  return length === 0 ? -1n : lastIndexOf(text, part, BigInt(length - 1));
}

function lastIndexOf(text: Value, part: Value, from: Value): Result {
  if (typeof text !== "string" || typeof part !== "string" || typeof from !== "bigint") return noSuchOverload;
  if (part === "") return from;
  if (from < 0n) return outOfRange(from);
  const characters = new Characters(text);
  if (from >= characters.length) return -1n;
  return BigInt(characters.indexAt(text.lastIndexOf(part, characters.unitAt(Number(from)))));
}

function replace([text, old, replacement, limit = -1n]: readonly Value[]): Result {
  if (typeof text !== "string" || typeof old !== "string" || typeof replacement !== "string") return noSuchOverload;
  if (typeof limit !== "bigint") return noSuchOverload;
  const pieces = pieceTexts(text, old, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit));
  spendWork((text.length + (pieces.length - 1) * replacement.length) / charactersPerWorkStep);
  return pieces.join(replacement);
}

/** Cuts a text at the first occurrences of a separator; an empty one is found before and after every character. */
function pieceTexts(text: string, separator: string, countMax: number): string[] {
  if (countMax === 0) return [text];
  if (separator === "") {
    const characters = [...text];
    if (countMax > characters.length) return ["", ...characters, ""];
    return ["", ...characters.slice(0, countMax - 1), characters.slice(countMax - 1).join("")];
  }
  const pieces: string[] = [];
  let at = 0;
  for (
    let found = text.indexOf(separator);
    found >= 0 && pieces.length < countMax;
    found = text.indexOf(separator, at)
  ) {
    pieces.push(text.slice(at, found));
    at = found + separator.length;
  }
  return [...pieces, text.slice(at)];
}

function split([text, separator, limit = -1n]: readonly Value[]): Result {
  if (typeof text !== "string" || typeof separator !== "string" || typeof limit !== "bigint") return noSuchOverload;
  if (limit === 0n) return new ArrayList([]);
  if (limit < 0n) return new ArrayList(separator === "" ? [...text] : text.split(separator));
  const count = Number(limit);
  if (separator !== "") return new ArrayList(pieceTexts(text, separator, count - 1));
  const characters = [...text];
  if (count >= characters.length) return new ArrayList(characters);
  return new ArrayList([...characters.slice(0, count - 1), characters.slice(count - 1).join("")]);
}

function substring([text, start, end]: readonly Value[]): Result {
  if (typeof text !== "string" || typeof start !== "bigint") return noSuchOverload;
  const characters = new Characters(text);
  if (end === undefined) {
    return start < 0n || start > characters.length ? outOfRange(start) : characters.slice(Number(start));
  }
  if (typeof end !== "bigint") return noSuchOverload;
  if (start > end) return new EvaluationError(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0n || start > characters.length) return outOfRange(start);
  if (end < 0n || end > characters.length) return outOfRange(end);
  return characters.slice(Number(start), Number(end));
}

const blank =
  "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000";

/** Removes white space as Unicode defines it, which is not quite what JavaScript trims. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && blank.includes(text.charAt(start))) start++;
  while (end > start && blank.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function join(list: Value, separator: Value): Result {
  if (!(list instanceof List) || typeof separator !== "string") return noSuchOverload;
  const parts: string[] = [];
  for (const item of itemsOf(list)) {
    if (isError(item)) return item;
    if (typeof item !== "string") return new EvaluationError(`join: invalid input: ${displayText(item)}`);
    spendWork(1 + (item.length + separator.length) / charactersPerWorkStep);
    parts.push(item);
  }
  return parts.join(separator);
}
