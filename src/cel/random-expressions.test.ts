import { afterEach, expect, type Mock, spyOn, test } from "bun:test";
import fc from "fast-check";
import { atOnce } from "../process/sliced.ts";
import {
  CompileError,
  celTypes,
  compile,
  isError,
  jsonValue,
  type Outcome,
  Program,
  ProgramError,
  storedEnvironment,
  toJson,
} from "./index.ts";

const costMax = 5_000;
const timeoutMs = 60_000;
const environment = storedEnvironment().extend({ variables: new Map([["object", celTypes.dynType]]) });
const object = jsonValue({
  name: "a",
  n: 3,
  half: 0.5,
  none: null,
  list: Array.from({ length: 40 }, (_, at) => at - 3),
  texts: ["a", "b-1", "", "10Mi", "2024-01-01T00:00:00Z", "1.2.3.4/8", "ä😀"],
  map: { a: 1, b: [2, { c: "d" }], "x.y": "z" },
});
const activation = { resolve: (name: string) => (name === "object" ? object : undefined) };

const tokens =
  "object . name list [ ] ( ) { } , : ? ! - + * / % == != < <= && || in true false null 1 -1 2u 0.5 1e400 0x1F 9223372036854775808 'a' \"b\" r'\\d' b'x' '''c''' '\\u00e4 '\\q' x all exists map filter has size string int duration timestamp matches .? [? @ # \n // \u0000 😀 optional.of lists.range".split(
    " ",
  );
const places = ["object", "object.list", "object.texts", "object.map", "object.map.b[1]", "object.none", "x", "y"];
const literals = [
  "1",
  "-2",
  "3u",
  "0.5",
  "'a'",
  "'b-1'",
  "''",
  "b'ab'",
  "true",
  "null",
  "[]",
  "{}",
  "[1, 'a']",
  "{'a': 1}",
];
const unary = [
  "!",
  "-",
  "size",
  "string",
  "int",
  "uint",
  "double",
  "bytes",
  "type",
  "dyn",
  "duration",
  "quantity",
  "url",
];
const binary = "+ - * / % == != < <= > >= && || in".split(" ");
const methods = [
  "contains",
  "startsWith",
  "matches",
  "split",
  "find",
  "indexOf",
  "join",
  "replace",
  "format",
  "orValue",
];
const bare = ["size", "sum", "min", "max", "isSorted", "lowerAscii", "reverse", "distinct", "sort", "flatten", "keys"];
const loops = ["all", "exists", "exists_one", "map", "filter", "sortBy", "transformList", "transformMap", "all2"];

/** Expressions, most of which parse and some of which have a type. */
const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const part = tie("expression");
  return {
    expression: fc.oneof(
      { maxDepth: 5, depthSize: "medium", withCrossShrink: true },
      fc.constantFrom(...places, "object.list", "object.texts"),
      fc.constantFrom(...literals).map((literal) => `dyn(${literal})`),
      fc.constantFrom(...literals),
      fc.tuple(fc.constantFrom(...unary), part).map(([name, value]) => `${name}(${value})`),
      fc.tuple(part, fc.constantFrom(...binary), part).map(([a, name, b]) => `(${a} ${name} ${b})`),
      fc.tuple(part, part, part).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      fc.tuple(part, part).map(([a, b]) => `${a}[${b}]`),
      fc.tuple(part, fc.constantFrom("a", "b", "name", "c")).map(([a, field]) => `${a}.${field}`),
      fc.tuple(part, fc.constantFrom(...bare)).map(([a, name]) => `${a}.${name}()`),
      fc.tuple(part, fc.constantFrom(...methods), part).map(([a, name, b]) => `${a}.${name}(${b})`),
      fc.tuple(part, fc.constantFrom(...loops), part).map(([a, name, body]) => loop(a, name, body)),
      fc.tuple(fc.constantFrom(...loops), part).map(([name, body]) => loop("object.list", name, body)),
      fc.tuple(part, part).map(([a, b]) => `[${a}, ${b}]`),
      fc.tuple(part, part).map(([a, b]) => `{${a}: ${b}}`),
    ),
  };
});

function loop(range: string, name: string, body: string): string {
  if (name === "all2") return `${range}.all(x, y, ${body})`;
  return name.startsWith("transform") ? `${range}.${name}(x, y, ${body})` : `${range}.${name}(x, ${body})`;
}

let clock: Mock<typeof performance.now> | undefined;
afterEach(() => clock?.mockRestore());

/** Returns undefined if the text does not compile. */
function programOf(text: string): Program | undefined {
  try {
    return Program.of(compile(text, environment));
  } catch (error) {
    if (error instanceof CompileError || error instanceof ProgramError) return undefined;
    throw error;
  }
}

function shown({ value, cost }: Outcome): unknown {
  if (isError(value)) return { error: value.message, cost };
  try {
    return { value: toJson(value), cost };
  } catch {
    return { type: typeof value, cost };
  }
}

test(
  "random tokens are compiled or refused",
  () => {
    const texts = fc
      .array(fc.constantFrom(...tokens), { maxLength: 30 })
      .chain((parts) => fc.constantFrom("", " ").map((space) => parts.join(space)));
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: "binary", maxLength: 40 })), (text) => {
        programOf(text)?.evaluate(activation, costMax);
      }),
      { numRuns: 1_000 },
    );
  },
  timeoutMs,
);

test(
  "random expressions end with a value or an error, and the same one when they pause",
  () => {
    let nowMs = 0;
    clock = spyOn(performance, "now").mockImplementation(() => (nowMs += 100));
    let compiled = 0;
    fc.assert(
      fc.property(expression, (text) => {
        const program = programOf(text);
        if (program === undefined) return;
        compiled++;
        const paused = atOnce(program.start(activation, costMax).inStretches());
        expect(shown(paused)).toEqual(shown(program.evaluate(activation, costMax)));
      }),
      { numRuns: 1_000 },
    );
    expect(compiled).toBeGreaterThan(0);
  },
  timeoutMs,
);
