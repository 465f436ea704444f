import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mergePatch, TestServer } from "../server.ts";
import { sendRaw } from "./raw-connection.ts";

const configMaps = "/api/v1/configmaps";
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
  await server.create("/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } });
});
afterAll(() => server.close());

async function list(query: string): Promise<[code: number, message: string]> {
  const { code, json } = await server.get(`${configMaps}?${query}`);
  return [code, json.message ?? ""];
}

const encoded = (name: string, text: string) => `${name}=${encodeURIComponent(text)}`;
const texts = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at)).join();
const token = (start: string) =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: 1, start })).toString("base64url");

describe("attack 52: hostile selectors", () => {
  test.each([
    [
      "of 1,001 terms",
      encoded(
        "labelSelector",
        texts(1_001, (at) => `a${at}=b`),
      ),
      "too many requirements: must have at most 1000",
    ],
    [
      "without a bracket",
      encoded("labelSelector", "a in (b"),
      "unable to parse requirement: found '', expected: ',' or ')'",
    ],
    ["with brackets in brackets", encoded("labelSelector", `a in ${"(".repeat(10_000)}`), "found '('"],
    ["that is one long word", encoded("labelSelector", "a".repeat(50_000)), "must be no more than 63 bytes"],
    [
      "with an open escape",
      encoded("fieldSelector", "metadata.name=a\\"),
      "invalid field selector: invalid escape sequence: \\",
    ],
    [
      "with an unknown escape",
      encoded("fieldSelector", "metadata.name=\\x"),
      "invalid field selector: invalid escape sequence: \\x",
    ],
    ["of an unknown field", encoded("fieldSelector", "data.a=b"), '"data.a" is not a known field selector'],
    ["of a prototype's field", encoded("fieldSelector", "__proto__=b"), '"__proto__" is not a known field selector'],
  ])("%s", async (_name, query, text) => {
    expect(await list(query)).toEqual([400, expect.stringContaining(text)]);
  });

  test("of 5,000 values", async () => {
    expect((await list(encoded("labelSelector", `a in (${texts(5_000, (at) => `v${at}`)})`)))[0]).toBe(200);
  });
});

describe("attack 57: hostile parameters", () => {
  test.each([
    ["limit=1e9", 400, 'strconv.ParseInt: parsing "1e9": invalid syntax'],
    ["limit=NaN", 400, 'strconv.ParseInt: parsing "NaN": invalid syntax'],
    ["limit=9223372036854775808", 400, "value out of range"],
    ["timeoutSeconds=9223372036854775808", 400, "value out of range"],
    ["timeout=1e100s", 400, 'time: unknown unit "e" in duration "1e100s"'],
    ["timeout=99999999999h", 400, 'time: invalid duration "99999999999h"'],
    ["resourceVersion=abc", 400, "invalid resource version"],
    ["resourceVersion=-1", 400, "invalid resource version"],
    ["resourceVersion=18446744073709551616", 400, "value out of range"],
    ["resourceVersion=1&resourceVersionMatch=x", 422, 'resourceVersionMatch: Unsupported value: "x"'],
    [`continue=${"A".repeat(30_000)}`, 400, "invalid continue token: continue key is not valid"],
    [`continue=${token("../secrets/default/x")}`, 400, "invalid continue token: continue key is not valid"],
    [`continue=${token("../../secrets/")}`, 400, "invalid continue token: continue key is not valid"],
    ["continue=%00", 400, "invalid continue token"],
    [Array(1_001).fill("a=b").join("&"), 400, "more than 1000 query parameters"],
  ])("?%s", async (query, code, text) => {
    expect(await list(query)).toEqual([code, expect.stringContaining(text)]);
  });

  test.each(["limit=-1", "limit=1&limit=-1", "timeoutSeconds=-1"])("?%s is a list like any other", async (query) => {
    const { code, json } = await server.get(`${configMaps}?${query}`);
    expect([code, json.kind]).toEqual([200, "ConfigMapList"]);
  });

  test("a version in the future ends with a 504, and does not wait for it", async () => {
    expect(await list("resourceVersion=9007199254740991")).toEqual([
      504,
      expect.stringContaining("Too large resource version"),
    ]);
  });
});

describe("attack 56: hostile headers", () => {
  test.each([
    ["one of 64 KiB", { "x-a": "y".repeat(65_536) }, 431],
    ["an Accept of five thousand types", { accept: Array(5_000).fill("a/b").join() }, 406],
    ["an Accept with a strange quality", { accept: "*/*;q=junk" }, 200],
    ["an unknown version of a table", { accept: "application/json;as=Table;v=v99;g=meta.k8s.io" }, 406],
  ])("%s", async (_name, headers, code) => {
    expect((await server.get(configMaps, { headers })).code).toBe(code);
  });

  test("two thousand of them", async () => {
    const lines = "X-A: b\r\n".repeat(2_000);
    expect((await sendRaw(server, `GET /version HTTP/1.1\r\nHost: a\r\n${lines}\r\n`)).codes).toEqual([431]);
  });

  test("values that come back are encoded", async () => {
    const path = "/api/v1/namespaces/default/configmaps/a";
    const crlf = "a%0d%0aSet-Cookie:%20b=c";
    const manager = await server.patch(`${path}?fieldManager=${crlf}`, mergePatch, {});
    expect([manager.code, manager.headers.has("set-cookie")]).toEqual([422, false]);
    const unknown = await server.patch(path, mergePatch, '{"x\\r\\nSet-Cookie: b=c":"y"}');
    expect([unknown.code, unknown.headers.has("set-cookie")]).toEqual([200, false]);
    expect(unknown.headers.get("warning")).toContain("\\\\r\\\\n");
    const { headers } = await server.get(configMaps, { headers: { "audit-id": "a b;c" } });
    expect(headers.get("audit-id")).not.toBe("a b;c");
  });
});
