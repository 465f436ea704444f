import { describe, expect, test } from "bun:test";
import {
  CompileError,
  celTypes,
  compile,
  costLimitMessage,
  isError,
  jsonValue,
  Program,
  storedEnvironment,
} from "./index.ts";

const environment = storedEnvironment().extend({ variables: new Map([["object", celTypes.dynType]]) });

function evaluate(text: string, object: Parameters<typeof jsonValue>[0] = null) {
  const program = Program.of(compile(text, environment));
  const { value } = program.evaluate({ resolve: (name) => (name === "object" ? jsonValue(object) : undefined) });
  return isError(value) ? `error: ${value.message}` : value;
}

function issuesOf(text: string): string[] {
  try {
    compile(text, environment);
    return [];
  } catch (error) {
    if (error instanceof CompileError) return error.issues.map(({ message }) => message);
    throw error;
  }
}

test.each([
  ["object.spec.replicas <= 5", true],
  ["has(object.spec.paused)", false],
  ["object.spec.containers.all(c, c.image.startsWith('registry.example/'))", true],
  ["object.spec.containers.map(c, c.name).join(',')", "a,b"],
  ["object.?spec.?missing.orValue(7)", 7n],
  ["9223372036854775807 + 1", "error: integer overflow"],
  ["object.spec.missing", "error: no such key: missing"],
  ["false && object.spec.missing", false],
])("%s", (text, expected) => {
  const containers = [
    { name: "a", image: "registry.example/a" },
    { name: "b", image: "registry.example/b" },
  ];
  expect(evaluate(text, { spec: { replicas: 3, containers } })).toEqual(expected);
});

test("an integer beyond 2^53 keeps every digit", () => {
  expect(evaluate("object.n + 1", { n: 9_007_199_254_740_993n })).toBe(9_007_199_254_740_994n);
});

describe("hostile expressions end with an error", () => {
  test.each([
    ["nested loops", "lists.range(1000).all(x, lists.range(1000).all(y, lists.range(1000).all(z, true)))"],
    ["a list that doubles", `[[1, 2]]${".map(x, x + x)".repeat(40)}.map(x, x.sum())`],
    ["a tree that doubles", `[[1, 2]]${".map(x, [x, x])".repeat(25)}.map(x, x == x)`],
    ["a text that doubles", `["ab"]${".map(x, x + x)".repeat(40)}`],
    ["a replacement in every place", `["aaaaaaaaaa"]${".map(x, x + x)".repeat(12)}.map(x, x.replace("", x))`],
    ["a range without an end", "lists.range(100000000000)"],
  ])("%s", (_, text) => {
    expect(evaluate(text)).toBe(`error: ${costLimitMessage}`);
  });

  test.each([
    ["nested parentheses", `${"(".repeat(5_000)}1${")".repeat(5_000)}`, "expression recursion limit exceeded: 250"],
    ["a long sum", `1${" + 1".repeat(5_000)}`, "max recursion depth exceeded"],
    [
      "a macro that copies",
      `optional.of(1)${".optMap(x, x)".repeat(20)}`,
      "expression has too many parts: limit 20000",
    ],
    [
      "a very long text",
      `"${"a".repeat(100_001)}"`,
      "expression code point size exceeds limit: size: 100003, limit 100000",
    ],
  ])("%s", (_, text, message) => {
    expect(issuesOf(text)).toEqual([message]);
  });

  test("a pattern that others match in exponential time is matched in linear time", () => {
    expect(evaluate(`"${"a".repeat(200)}!".matches("^(a+)+$")`)).toBe(false);
  });
});

test("no text makes the compiler or the evaluator crash", () => {
  const seed = Number(Bun.env["SEED"] ?? Date.now());
  console.log(`replay: SEED=${seed} bun test src/cel/program.test.ts`);
  const random = randomNumbers(seed);
  const pick = (parts: readonly string[]) => parts[Math.floor(random() * parts.length)] ?? "";
  for (let round = 0; round < 2_000; round++) {
    const text = Array.from({ length: 1 + Math.floor(random() * 12) }, () => pick(fragments)).join("");
    if (issuesOf(text).length === 0) evaluateSafely(text);
  }
});

const fragments = (
  "object|object.a|[1,2]|{'a':1}|'x'|b'y'|1|2u|3.5|null|true|.all(x,x>0)|.map(x,x+x)|.filter(x,x!=1)|.size()|[0]|['a']|.a|.?b|[?0]|" +
  "+|-|*|/|%|==|!=|<|>=| in |&&|\\|\\||?|:|(|)|[|]|{|}|,|!|dyn(|string(|int(|timestamp(|duration('1s')|has(object.a)|'[a-z]+'|" +
  ".matches(|.optMap(v,v)|optional.of(1)|quantity('1Ki')|.format([1])|ip('::1')|url('/a')|.sort()|type(1)|\\u00e9|\"|'|`|$|//x"
)
  .split(/(?<!\\)\|/)
  .map((part) => part.replaceAll("\\|", "|"));

function evaluateSafely(text: string): void {
  try {
    evaluate(text, { a: [1, "x", null, { b: 2.5 }] });
  } catch (error) {
    if ((error as Error).name !== "ProgramError") throw new Error(`crash at ${text}`, { cause: error });
  }
}

/** Mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
