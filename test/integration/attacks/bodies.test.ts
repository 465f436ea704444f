import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { protobuf, type RequestOptions, TestServer } from "../server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const bodyBytesMax = 3 * 1024 * 1024;
const values = (limit: number) => `Request entity too large: limit is ${limit} values`;
const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): ";
let server: TestServer;
let created = 0;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

/** Returns a ConfigMap with further fields, as text. */
function configMap(more = ""): string {
  return `{"metadata":{"name":"a-${created++}"}${more}}`;
}

async function send(body: string | Uint8Array, options: RequestOptions = {}): Promise<[code: number, message: string]> {
  const { code, json } = await server.post(configMaps, body, options);
  return [code, json.message ?? ""];
}

describe("attack 45: a body beyond the limit is refused before it is parsed", () => {
  test("with its length", async () => {
    const [code, message] = await send(configMap(`,"data":{"a":"${"x".repeat(bodyBytesMax)}"}`));
    expect([code, message]).toEqual([413, `Request entity too large: limit is ${bodyBytesMax}`]);
  });

  test("in chunks of no known length", async () => {
    const { port, ca } = server.running;
    const chunk = new Uint8Array(64 * 1024).fill(0x20);
    async function* body() {
      for (let sent = 0; sent <= bodyBytesMax; sent += chunk.byteLength) yield chunk;
    }
    const headers = { authorization: `Bearer ${server.running.token}`, "content-type": "application/json" };
    const url = `https://127.0.0.1:${port}${configMaps}`;
    const answer = await fetch(url, { method: "POST", tls: { ca }, headers, body: body() as never });
    expect(answer.status).toBe(413);
  });

  test.each(["gzip", "deflate", "br", "zstd", "gzip, gzip"])("a body in %s is not decompressed", async (encoding) => {
    const bomb = Bun.gzipSync(Buffer.from(configMap(`,"data":{"a":"${"x".repeat(4 * bodyBytesMax)}"}`)));
    const [code] = await send(bomb, { headers: { "content-encoding": encoding } });
    expect(code).toBe(415);
  });
});

describe("attack 46: hostile JSON", () => {
  test.each([
    ["nesting", () => configMap(`,"x":${"[".repeat(30_000)}${"]".repeat(30_000)}`), 400, "exceeded max depth"],
    [
      "nesting beyond the values",
      () => configMap(`,"x":${"[".repeat(100_000)}${"]".repeat(100_000)}`),
      413,
      values(64_000),
    ],
    [
      "a quarter of a million keys",
      () => configMap(`,"data":{${Array.from({ length: 250_000 }, (_, at) => `"${at}":""`)}}`),
      413,
      values(64_000),
    ],
    ["a number of a million digits", () => configMap(`,"x":${"1".repeat(1_000_000)}`), 400, "cannot unmarshal number"],
    ["a number beyond doubles", () => configMap(',"x":1e999'), 400, "cannot unmarshal number 1e999"],
    ["NaN", () => configMap(',"x":NaN'), 400, "invalid character 'N' looking for beginning of value"],
    ["a comment", () => configMap("/* a */"), 400, "invalid character '/' after object key:value pair"],
    ["text behind the object", () => `${configMap()}x`, 400, "invalid character 'x' after top-level value"],
    ["a byte order mark", () => `\ufeff${configMap()}`, 400, "invalid character 'ï' looking for beginning of value"],
    ["UTF-16", () => Buffer.from(configMap(), "utf16le"), 400, unrecognized],
  ])("%s", async (_name, body, code, text) => {
    const [answered, message] = await send(body());
    expect([answered, message]).toEqual([code, expect.stringContaining(text)]);
  });

  test("a name twice: the last one counts, and strict clients are told", async () => {
    const body = () => configMap(',"data":{"a":"1","a":"2"}');
    const { code, json, headers } = await server.post(configMaps, body());
    expect([code, json.data]).toEqual([201, { a: "2" }]);
    expect(headers.get("warning")).toContain('duplicate field \\"data.a\\"');
    expect((await server.post(`${configMaps}?fieldValidation=Strict`, body())).code).toBe(400);
  });

  test("invalid UTF-8 and lone surrogates become replacement characters", async () => {
    const bytes = [Buffer.from('{"metadata":{"name":"utf-8"},"data":{"a":"'), Buffer.of(0xff), Buffer.from('"}}')];
    expect((await server.post(configMaps, new Uint8Array(Buffer.concat(bytes)))).json.data.a).toBe("\ufffd");
    expect((await server.post(configMaps, configMap(',"data":{"a":"\\ud800"}'))).json.data.a).toBe("\ufffd");
  });
});

describe("attack 46: numbers at the limits", () => {
  const pods = "/api/v1/namespaces/default/pods?dryRun=All";
  const send = async (number: string) => {
    const containers = '[{"name":"a","image":"b"}]';
    const spec = `{"containers":${containers},"terminationGracePeriodSeconds":${number}}`;
    return server.post(pods, `{"metadata":{"name":"a"},"spec":${spec}}`);
  };

  test.each(["9007199254740993", "9223372036854775807"])("%s keeps all digits", async (number) => {
    const { code, text } = await send(number);
    expect([code, text]).toEqual([201, expect.stringContaining(`"terminationGracePeriodSeconds":${number},`)]);
  });

  test.each(["9223372036854775808", "1e999", "1.5", '"1"'])("%s is not an int64", async (number) => {
    expect((await send(number)).code).toBe(400);
  });
});

describe("attack 48: hostile CBOR", () => {
  let cbor: TestServer;
  beforeAll(async () => {
    cbor = await TestServer.start({ featureGates: { CBORServingAndStorage: true } });
  });
  afterAll(() => cbor.close());
  const selfDescribed = [0xd9, 0xd9, 0xf7];
  const bytes = (...after: number[]) => new Uint8Array([...selfDescribed, ...after]);

  test.each([
    ["nothing", new Uint8Array()],
    ["a map of 2^32 keys", bytes(0xba, 0xff, 0xff, 0xff, 0xff)],
    ["a text of 2^63 bytes", bytes(0x7b, 0x7f, ...Array<number>(7).fill(0xff))],
    ["lists without end in lists without end", bytes(...Array<number>(50_000).fill(0x9f))],
    ["a map that is not closed", bytes(0xbf)],
    ["a key twice", bytes(0xa2, 0x41, 0x61, 0x41, 0x62, 0x41, 0x61, 0x41, 0x63)],
    ["a key that is a number", bytes(0xa1, 0x01, 0x02)],
    ["a number of 2^72", bytes(0xa1, 0x41, 0x61, 0xc2, 0x4a, ...Array<number>(10).fill(0xff))],
    ["data behind the object", bytes(0xa0, 0xa0)],
    ["a break alone", bytes(0xff)],
  ])("%s", async (_name, body) => {
    const { code, json } = await cbor.post(configMaps, body, { type: "application/cbor" });
    expect([code, json.kind]).toEqual([400, "Status"]);
  });

  test("an unknown tag means nothing", async () => {
    const body = bytes(0xd9, 0xff, 0xff, 0xa0);
    const { code, json } = await cbor.post(configMaps, body, { type: "application/cbor" });
    expect([code, json.message]).toEqual([422, expect.stringContaining("name or generateName is required")]);
  });
});

describe("attack 48: hostile protobuf", () => {
  const envelope = (...bytes: number[]) => new Uint8Array([0x6b, 0x38, 0x73, 0, ...bytes]);
  test.each([
    ["another prefix", new Uint8Array([1, 2, 3, 4]), "does not appear to be a protobuf message"],
    ["a length of 2 GiB", envelope(0x12, 0xff, 0xff, 0xff, 0xff, 0x07), "unexpected EOF"],
    ["a negative length", envelope(0x12, ...Array<number>(9).fill(0xff), 0x01), ""],
    ["a number that does not end", envelope(...Array<number>(64).fill(0xff)), ""],
    ["a field with the number zero", envelope(0x02, 0x00), ""],
    ["groups in groups", envelope(...Array<number>(50_000).fill(0x0b)), ""],
    ["nothing", envelope(), ""],
  ])("%s", async (_name, body, text) => {
    const [code, message] = await send(body, { type: protobuf });
    expect([code, message]).toEqual([400, expect.stringContaining(text)]);
  });
});
