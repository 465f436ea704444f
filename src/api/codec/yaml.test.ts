import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/cpu-time.ts";
import { equalJson, type JsonValue } from "../json.ts";
import { stringifyJson } from "./json.ts";
import { parseYaml, parseYamlInSteps, stringifyYaml } from "./yaml.ts";
import { YamlSyntaxError } from "./yaml-syntax.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string) => parseYaml(bytes(text), { strict: true });

describe("parseYaml", () => {
  const scalars: readonly (readonly [text: string, value: JsonValue])[] = [
    ["y", true],
    ["Yes", true],
    ["on", true],
    ["no", false],
    ["OFF", false],
    ["yEs", "yEs"],
    ["~", null],
    ["null", null],
    ["", null],
    ["'yes'", "yes"],
    ['"1"', "1"],
    ["0777", 511],
    ["0o17", 15],
    ["0x1F", 31],
    ["-0x10", -16],
    ["0b101", 5],
    ["08", 8],
    ["1_000", 1000],
    ["+12", 12],
    ["_1", "_1"],
    ["1.5", 1.5],
    [".5", 0.5],
    ["1e3", 1000],
    ["1e999", "1e999"],
    ["1.2.3", "1.2.3"],
    ["12:30:45", "12:30:45"],
    ["2026-01-02", "2026-01-02"],
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
    ["9223372036854775807", 9223372036854775807n],
    ["-9223372036854775808", -9223372036854775808n],
    ["18446744073709551615", 18446744073709551615n],
    ["0xFFFFFFFFFFFFFFFF", 18446744073709551615n],
    ["100000000000000000000", 100000000000000000000],
    ["!!str 1", "1"],
    ["! 1", "1"],
    ["!!int '7'", 7],
    ["-", [null]],
    ["--", "--"],
    ["|\n  a\n  b\n", "a\nb\n"],
  ];
  for (const [text, value] of scalars) {
    test(`reads ${JSON.stringify(text)} as ${stringifyJson(value)}`, () => {
      expect(parse(`a: ${text}`.replace("a: -", text === "-" ? "a:\n-" : "a: -")).value).toEqual({ a: value });
    });
  }

  const documents: readonly (readonly [title: string, text: string, value: JsonValue])[] = [
    ["an empty input", "", null],
    ["a comment", "# c\n", null],
    ["a document marker", "---\na: 1\n", { a: 1 }],
    ["JSON", '{"a": [1, "b", {}]}', { a: [1, "b", {}] }],
    ["keys of other types as text", "1: a\ntrue: b\n1.5: c\n", { "1": "a", true: "b", "1.5": "c" }],
    ["aliases", "a: &x {b: 1}\nc: *x\n", { a: { b: 1 }, c: { b: 1 } }],
    ["an alias as a key", "&k a: 1\nb: {*k : 2}\n", { a: 1, b: { a: 2 } }],
    ["merge keys, own keys first", "a: &x {p: 1, q: 2}\nb: {p: 0, <<: *x}\n", { a: { p: 1, q: 2 }, b: { p: 0, q: 2 } }],
    [
      "merge keys with a list, the first one first",
      "a: [&x {p: 1}, &y {p: 2, q: 3}]\nb: {<<: [*x, *y]}\n",
      { a: [{ p: 1 }, { p: 2, q: 3 }], b: { p: 1, q: 3 } },
    ],
    ["the first of several documents", "# c\n---\na: 1\n---\nb: [\n", { a: 1 }],
    ["a document up to its end marker", "a: |\n  ...\n...\nb: [\n", { a: "...\n" }],
    ["an empty first document", "---\n---\na: 1\n", null],
    ["base64", "a: !!binary YWJj\n", { a: "abc" }],
    ["tags that nobody knows", "a: !foo 1\nb: !!set {x}\nc: !!str {d: 1}\n", { a: "1", b: { x: null }, c: { d: 1 } }],
    ["a quoted merge key as text", "'<<': {a: 1}\n", { "<<": { a: 1 } }],
  ];
  for (const [title, text, value] of documents) {
    test(`reads ${title}`, () => {
      expect(parse(text).value).toEqual(value);
      expect(parse(text).duplicates).toEqual([]);
    });
  }

  test("reports repeated keys, the last value holding", () => {
    const text = "spec:\n  a: 1\n  a: 2\n  list:\n  - b: 1\n    b: 2\nyes: 1\ntrue: 2\n1: a\n'1': b\n";
    const parsed = parse(text);
    expect(parsed.duplicates).toEqual(["spec.a", "spec.list[0].b", "true", "1"]);
    expect(parsed.duplicateLines[0]).toBe('line 3: key "a" already set in map');
    expect(parsed.duplicateLines[1]).toBe('line 6: key "b" already set in map');
    expect(parsed.value).toEqual({ spec: { a: 2, list: [{ b: 2 }] }, true: 2, "1": "b" });
    expect(parseYaml(bytes(text), { strict: false }).duplicates).toEqual([]);
  });

  test("copies what an alias repeats", () => {
    const value = parse("a: &x {b: 1}\nc: *x\n").value as { a: { b: number }; c: { b: number } };
    value.a.b = 2;
    expect(value.c.b).toBe(1);
  });

  test("keeps __proto__ as a key", () => {
    const { value } = parse("__proto__: {polluted: true}\n<<: {__proto__: 1, constructor: 2}\n");
    expect(stringifyJson(value)).toBe('{"__proto__":{"polluted":true},"constructor":2}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  const laughs = ["a: &a [lol,lol,lol,lol,lol,lol,lol,lol,lol]"];
  for (const [at, name] of [..."bcdefghij"].entries()) {
    const before = "abcdefghij"[at];
    laughs.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(",")}]`);
  }
  const refused: readonly (readonly [title: string, text: string])[] = [
    ["a billion laughs", laughs.join("\n")],
    ["long text repeated", `a: &a ${"x".repeat(100_000)}\nb: [${Array(100).fill("*a").join(",")}]`],
    [
      "merges repeated",
      `${Array.from({ length: 40 }, (_, at) => `k${at}: &k${at} {<<: [${at === 0 ? "{a: 1}" : `*k${at - 1}, *k${at - 1}`}]}`).join("\n")}`,
    ],
    ["an alias inside its own anchor", "a: &a [*a]"],
    ["an unknown alias", "a: *b"],
    ["what is not base64", "a: !!binary '***'"],
    ["a tag of another type", "a: !!int x"],
    ["infinity", "a: .inf"],
    ["NaN", "a: .NaN"],
    ["a null key", "~: 1"],
    ["a list as key", "? [a]\n: 1"],
    ["a tab for indentation", "a:\n\tb: 1"],
    ["an unclosed list", "[a"],
    ["a merge of text", "<<: a"],
    ["too deep nesting", "[".repeat(100_000)],
    ["deep block nesting", `${"- ".repeat(2_000)}a`],
    ["a null byte", "a: \0"],
  ];
  for (const [title, text] of refused) {
    test(`refuses ${title}`, () => {
      const started = cpuMs();
      expect(() => parse(text)).toThrow(YamlSyntaxError);
      expect(cpuMs() - started).toBeLessThan(1_000);
    });
  }

  test.each([
    ["\t", "found character that cannot start any token"],
    ["a:\n\tb: c", "line 2: found character that cannot start any token"],
    [":", "did not find expected key"],
    ["{", "line 1: did not find expected node content"],
    ["a: [b,", "line 1: did not find expected node content"],
    ["a: {b", "line 1: did not find expected ',' or '}'"],
    ["a: 'b", "found unexpected end of stream"],
    ["a: b: c", "mapping values are not allowed in this context"],
    ["a: 1\n b: 2", "line 2: mapping values are not allowed in this context"],
    ["a\nb: 1", "line 2: mapping values are not allowed in this context"],
    ["a: - b", "block sequence entries are not allowed in this context"],
    ["a: ?", "mapping keys are not allowed in this context"],
    ["a:\n  - b\n - c", "line 2: did not find expected key"],
    ["a:\n  b: 1\n c: 2", "line 2: did not find expected key"],
    ["a: 'b'c", "did not find expected key"],
    ["a: [b]]", "did not find expected key"],
    ["a: }", "did not find expected node content"],
    ["]", "did not find expected node content"],
    ["a: @", "found character that cannot start any token"],
    ["`a", "found character that cannot start any token"],
  ])("says in upstream's words what is wrong with %p", (text, message) => {
    expect(() => parse(text)).toThrow(new YamlSyntaxError(message));
  });

  test("refuses invalid UTF-8", () => {
    expect(() => parseYaml(new Uint8Array([0x61, 0xff]), { strict: false })).toThrow("yaml: invalid UTF-8");
  });

  test("tells the line of a mistake", () => {
    expect(() => parse("a: 1\nb: [\nc: }\n")).toThrow(/^yaml: line \d+: /);
  });

  test("gives a value or a YamlSyntaxError for any text", () => {
    const piece = fc.constantFrom(
      "a",
      ": ",
      "- ",
      "\n",
      "  ",
      "&x ",
      "*x",
      "<<: ",
      "{",
      "}",
      "[",
      "]",
      ",",
      "'",
      '"',
      "|",
      ">",
      "#",
      "!!str ",
      "!",
      "?",
      "1",
      "yes",
      "---",
      "%TAG ! x\n",
      "\t",
      "é",
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 30 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(text, (input) => {
        try {
          stringifyJson(parse(input).value);
        } catch (error) {
          expect(error).toBeInstanceOf(YamlSyntaxError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("stringifyYaml", () => {
  test("writes as Kubernetes' tools do", () => {
    const object = {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { name: "web", labels: {}, annotations: { a: "yes", b: "1", c: "x: y", d: "line 1\nline 2\n", e: "" } },
      spec: {
        containers: [{ name: "c", args: ["-v", "--x=1"], ports: [{ containerPort: 80 }] }],
        list: [],
        nested: [["a", ["b"]]],
      },
      time: "2026-01-02T03:04:05Z",
      size: 9223372036854775807n,
    };
    expect(stringifyYaml(object)).toBe(`apiVersion: v1
kind: Pod
metadata:
  annotations:
    a: "yes"
    b: "1"
    c: 'x: y'
    d: |
      line 1
      line 2
    e: ""
  labels: {}
  name: web
size: 9223372036854775807
spec:
  containers:
  - args:
    - -v
    - --x=1
    name: c
    ports:
    - containerPort: 80
  list: []
  nested:
  - - a
    - - b
time: "2026-01-02T03:04:05Z"
`);
  });

  test("breaks long texts at single spaces beyond column 80", () => {
    const words = "word ".repeat(20).trim();
    const spaced = "two  spaces  in  here  ".repeat(5).trim();
    expect(
      stringifyYaml({ a: words, b: [words], c: `k: ${words}`, d: `\t${words}`, e: spaced, f: "x".repeat(100) }),
    ).toBe(
      `a: word word word word word word word word word word word word word word word word
  word word word word
b:
- word word word word word word word word word word word word word word word word
  word word word word
c: 'k: word word word word word word word word word word word word word word word
  word word word word word'
d: "\\tword word word word word word word word word word word word word word word word
  word word word word"
e: ${spaced}
f: ${"x".repeat(100)}
`,
    );
  });

  test("writes what parseYaml reads back", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }).map((one) => one.toWellFormed()),
      fc.constantFrom(
        "yes",
        "0777",
        "1_0",
        "~",
        "",
        " a",
        "a ",
        "- a",
        "a: b",
        "a #b",
        "a\nb",
        "a\n\n",
        "\na",
        "a\n b",
        "<<",
        "=",
        "\ufeff",
        "\u0085",
        "\u2028",
        "2026-01-02",
        "12:30",
        "'",
        '"',
        "...",
        "---",
        "0b1",
        ".inf",
        "|",
        "?",
        "a\tb",
        "x".repeat(2_000) + ": y",
      ),
      fc
        .array(fc.constantFrom("a", " ", "\n", ":", "-", "#", "'", '"', "\t", "é", "1"), { maxLength: 8 })
        .map((parts) => parts.join("")),
      fc
        .array(fc.constantFrom("word", " ", "'", "\u0007", "é", ": ", "😀"), { minLength: 60, maxLength: 120 })
        .map((parts) => parts.join("")),
    );
    const document = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc
          .double({ noNaN: true, noDefaultInfinity: true })
          .filter((value) => Number.isSafeInteger(value) || !Number.isInteger(value))
          .map((value) => (value === 0 ? 0 : value)),
        fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(text, tie("value"), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(document, (value) => {
        const yaml = stringifyYaml(value);
        const back = parse(yaml);
        expect(back.duplicates).toEqual([]);
        if (!equalJson(back.value, value)) throw new Error(`${yaml} became ${stringifyJson(back.value)}`);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("a text is parsed in passes, between which others may have a turn", () => {
  const steps = parseYamlInSteps(new TextEncoder().encode("a: 1"), { strict: true });
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  expect(pauses).toBe(2);
  expect(step.value.value).toEqual({ a: 1 });
});
