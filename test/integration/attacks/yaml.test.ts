import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const head = "kind: ConfigMap\napiVersion: v1\nmetadata: {generateName: a-}\n";
const letters = [..."abcdefghi"];
/** Each line names the one before it nine times. */
const billionLaughs = letters
  .map((name, at) => `${name}: &${name} [${Array(9).fill(at === 0 ? '"lol"' : `*${letters[at - 1]}`)}]`)
  .join("\n");
const aliasing = "yaml: document contains excessive aliasing";
const tooManyValues = "Request entity too large: limit is 32000 values";
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

async function send(body: string): Promise<[code: number, message: string]> {
  const { code, json } = await server.post(configMaps, body, { type: "application/yaml" });
  return [code, json.message ?? ""];
}

describe("attack 47: hostile YAML", () => {
  test.each([
    ["CVE-2019-11253: a billion laughs", billionLaughs, 400, aliasing],
    [
      "CVE-2019-11253: a long text many times",
      `a: &a ${JSON.stringify("x".repeat(10_000))}\nb: [${Array(10_000).fill("*a")}]\n`,
      400,
      aliasing,
    ],
    [
      "CVE-2019-11253: merge keys of merge keys",
      `a: &a {x: 1}\n${letters
        .slice(1)
        .map((name, at) => `${name}: &${name} {<<: [${Array(9).fill(`*${letters[at]}`)}]}`)
        .join("\n")}`,
      400,
      aliasing,
    ],
    ["an alias of what contains it", "a: &a [*a]\n", 400, "yaml: anchor 'a' value contains itself"],
    ["an alias of nothing", "a: *b\n", 400, "yaml: unknown anchor 'b' referenced"],
    ["CVE-2019-11254: a document that is slow to scan", `a: ${"? ".repeat(20_000)}`, 400, ""],
    ["nesting", `a: ${"[".repeat(1_000)}${"]".repeat(1_000)}`, 400, "yaml: nesting exceeded maxDepth (250)"],
    ["nesting beyond the values", `a: ${"[".repeat(100_000)}`, 413, tooManyValues],
    ["nested maps", Array.from({ length: 1_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"), 400, "maxDepth (250)"],
    ["a hundred thousand documents", head + "---\na: b\n".repeat(100_000), 413, tooManyValues],
    [
      "a tab for a space",
      "kind: ConfigMap\nmetadata:\n\tname: x\n",
      400,
      "found character that cannot start any token",
    ],
    ["a list for a key", `${head}data: {? [a] : b}\n`, 400, "yaml: unsupported map key of type: list"],
    ["a map for a key", `${head}data: {? {a: b} : c}\n`, 400, "yaml: unsupported map key of type: map"],
    [
      "a map behind an alias for a key",
      `${head}annotations: &m {a: b}\ndata: {? *m : c}\n`,
      400,
      "yaml: unsupported map key of type: map",
    ],
    ["an octal number for a text", `${head}data: {a: 0777}\n`, 400, "cannot unmarshal number"],
    ["a boolean for a text", `${head}data: {a: yes}\n`, 400, "cannot unmarshal bool"],
    ["a Python object", `${head}data: {a: !!python/object/apply:os.system ["id"]}\n`, 400, "cannot unmarshal array"],
  ])("%s is refused", async (_name, body, code, text) => {
    const [answered, message] = await send(body);
    expect([answered, message]).toEqual([code, expect.stringContaining(text)]);
  });

  test.each([
    ["a function is text", 'data: {a: !!js/function "function(){}"}', { a: "function(){}" }],
    ["binary data are decoded text", "data: {a: !!binary aGk=}", { a: "hi" }],
    ["a merge key merges", "data: {<<: {a: b}}", { a: "b" }],
  ])("%s, and never more", async (_name, line, data) => {
    const { code, json } = await server.post(configMaps, `${head}${line}\n`, { type: "application/yaml" });
    expect([code, json.data]).toEqual([201, data]);
  });
});
