import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../server.ts";
import { sendRaw } from "./raw-connection.ts";

const host = "Host: kubernetes\r\n";
const configMaps = "/api/v1/namespaces/default/configmaps";
const version = `GET /version HTTP/1.1\r\n${host}\r\n`;
const chunked = "Transfer-Encoding: chunked\r\n";
const noChunks = "\r\n0\r\n\r\n";
let server: TestServer;
let token: string;
/** A request that an attacker hides behind another one. */
let hidden: string;

beforeAll(async () => {
  server = await TestServer.start();
  token = `Authorization: Bearer ${server.running.token}\r\n`;
  const body = JSON.stringify({ metadata: { name: "hidden" } });
  const length = `Content-Length: ${body.length}\r\n`;
  hidden = `POST ${configMaps} HTTP/1.1\r\n${host}${token}Content-Type: application/json\r\n${length}\r\n${body}`;
});
afterAll(() => server.close());

async function expectNothingHidden(): Promise<void> {
  expect((await server.get(`${configMaps}/hidden`)).code).toBe(404);
}

describe("attack 60: a request whose length is ambiguous is refused, and its connection closed", () => {
  test.each([
    ["a length and chunks", `Content-Length: 5\r\n${chunked}${noChunks}`],
    ["two lengths", "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["the same length twice", "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab"],
    ["a list of lengths", "Content-Length: 2, 2\r\n\r\nab"],
    ["a length with a sign", "Content-Length: +2\r\n\r\nab"],
    ["a negative length", "Content-Length: -1\r\n\r\n"],
    ["a hexadecimal length", "Content-Length: 0x2\r\n\r\nab"],
    ["a length with a separator", "Content-Length: 1_0\r\n\r\n0123456789"],
    ["an empty length", "Content-Length: \r\n\r\n"],
    ["a length beyond 64 bits", "Content-Length: 99999999999999999999\r\n\r\n"],
    ["a space before the colon of the length", "Content-Length : 2\r\n\r\nab"],
    ["an unknown encoding", `Transfer-Encoding: xchunked\r\n${noChunks}`],
    ["a space before the colon of the encoding", `Transfer-Encoding : chunked\r\n${noChunks}`],
    ["chunks that are not the last encoding", `Transfer-Encoding: chunked, identity\r\n${noChunks}`],
    ["chunks that are not the only encoding", `Transfer-Encoding: identity, chunked\r\n${noChunks}`],
    ["chunks twice", `${chunked}${chunked}${noChunks}`],
    ["a quoted encoding", `Transfer-Encoding: "chunked"\r\n${noChunks}`],
    ["a vertical tab before the encoding", `Transfer-Encoding: \x0bchunked\r\n${noChunks}`],
    ["an encoding on the next line", `Transfer-Encoding:\r\n chunked\r\n${noChunks}`],
    ["a negative chunk", `${chunked}\r\n-1\r\n\r\n`],
    ["a chunk beyond 64 bits", `${chunked}\r\n10000000000000005\r\nabcde\r\n0\r\n\r\n`],
    ["a chunk size with a prefix", `${chunked}\r\n0x1\r\na\r\n0\r\n\r\n`],
    ["a chunk size with a sign", `${chunked}\r\n+1\r\na\r\n0\r\n\r\n`],
    ["a chunk longer than its size", `${chunked}\r\n1\r\nabc\r\n0\r\n\r\n`],
    ["chunks whose lines end without CR", `${chunked}\r\n1\na\n0\n\n`],
    ["a chunk extension with a line feed", `${chunked}\r\n1;a\nb\r\na\r\n0\r\n\r\n`],
    ["a chunk extension of 20 KB", `${chunked}\r\n1;${"x".repeat(20_000)}\r\na\r\n0\r\n\r\n`],
    ["a length in the trailers", `${chunked}\r\n0\r\nContent-Length: 4\r\n\r\n`],
  ])("%s", async (_what, rest) => {
    const { codes, isClosed } = await sendRaw(server, `POST /healthz HTTP/1.1\r\n${host}${token}${rest}${hidden}`);
    expect([codes, isClosed]).toEqual([[400], true]);
    await expectNothingHidden();
  });

  test.each([
    ["lines that end without CR", "GET /healthz HTTP/1.1\nHost: a\n\n"],
    ["a header that ends without CR", `GET /healthz HTTP/1.1\r\n${host}X: a\nY: b\r\n\r\n`],
    ["a CR in a header", `GET /healthz HTTP/1.1\r\n${host}X: a\rY: b\r\n\r\n`],
    ["a NUL in a header", `GET /healthz HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`],
    ["a folded header", `GET /healthz HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`],
    ["a header without a name", `GET /healthz HTTP/1.1\r\n${host}: a\r\n\r\n`],
    ["a header without a colon", `GET /healthz HTTP/1.1\r\n${host}abc\r\n\r\n`],
    ["a space before the first header", `GET /healthz HTTP/1.1\r\n X: a\r\n${host}\r\n`],
    ["a target with a space", `GET /healthz x HTTP/1.1\r\n${host}\r\n`],
    ["an unknown version", `GET /healthz HTTP/1.2\r\n${host}\r\n`],
    ["no version", "GET /healthz\r\n\r\n"],
    ["a method in lower case", `get /healthz HTTP/1.1\r\n${host}\r\n`],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    [
      "an upgrade to h2c",
      `GET /healthz HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
    ],
  ])("%s", async (_what, text) => {
    const { codes, isClosed } = await sendRaw(server, `${text}${hidden}`);
    expect([codes, isClosed]).toEqual([[400], true]);
  });
});

test("attack 60: an upgrade behind such a request is not carried out either", async () => {
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
  const key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
  const watch = `GET /api/v1/configmaps?watch=1 HTTP/1.1\r\n${host}${token}${upgrade}${key}\r\n`;
  const refused = `POST /healthz HTTP/1.1\r\n${host}Transfer-Encoding: identity, chunked\r\n${noChunks}`;
  const { codes, isClosed } = await sendRaw(server, refused + watch);
  expect([codes, isClosed]).toEqual([[400], true]);
  expect((await server.get("/metrics")).text).not.toMatch(/^apiserver_request_total\{.*verb="WATCH"/m);
});

describe("attack 60: a body is never read as a request", () => {
  test.each([
    ["GET", 200, ""],
    ["HEAD", 200, ""],
    ["POST", 417, "Expect: 200-ok\r\n"],
  ])("of %s, which is answered with %d", async (method, code, header) => {
    const text = `${method} /healthz HTTP/1.1\r\n${host}${token}${header}Content-Length: ${hidden.length}\r\n\r\n${hidden}`;
    expect((await sendRaw(server, text + version, 2)).codes).toEqual([code, 200]);
    await expectNothingHidden();
  });

  test("of a request that is refused before its body is read", async () => {
    const text = `POST /api/v1/nodes HTTP/1.1\r\n${host}Content-Length: ${hidden.length}\r\n\r\n${hidden}`;
    const { codes, isClosed } = await sendRaw(server, text + version);
    expect([codes, isClosed]).toEqual([[403], true]);
    await expectNothingHidden();
  });

  test("and trailers are not headers: they authenticate no request", async () => {
    const text = `GET /api/v1/nodes HTTP/1.1\r\n${host}${chunked}\r\n0\r\n${token}\r\n`;
    expect((await sendRaw(server, text + version, 2)).codes[0]).not.toBe(200);
  });
});

describe("attack 65: the Host header decides nothing", () => {
  test.each([
    ["none", ""],
    ["two", "Host: a\r\nHost: b\r\n"],
    ["one with a space", "Host: a b\r\n"],
    ["one with a path", "Host: a/b\r\n"],
    ["one with a user", "Host: a@b\r\n"],
  ])("%s is refused", async (_what, lines) => {
    const { codes, isClosed } = await sendRaw(server, `GET /healthz HTTP/1.1\r\n${lines}\r\n${hidden}`);
    expect([codes, isClosed]).toEqual([[400], true]);
  });

  test.each([["evil.example.com"], ["127.0.0.1:1"], ["[::1]:443"], [""]])(
    "%j is served like any other",
    async (name) => {
      const { codes } = await sendRaw(server, `GET /healthz HTTP/1.1\r\nHost: ${name}\r\n\r\n`, 1);
      expect(codes).toEqual([200]);
    },
  );

  test("a target of another host is refused", async () => {
    const { codes, isClosed } = await sendRaw(
      server,
      `GET https://evil.example.com/healthz HTTP/1.1\r\n${host}\r\n${hidden}`,
    );
    expect([codes, isClosed]).toEqual([[400], true]);
  });

  test("a page of another origin can neither read answers nor send objects", async () => {
    const headers = { origin: "https://evil.example.com", "access-control-request-method": "POST" };
    const preflight = await server.request("OPTIONS", "/api/v1/namespaces/default/configmaps", { headers });
    expect(preflight.headers.has("access-control-allow-origin")).toBe(false);
    const body = JSON.stringify({ metadata: { name: "from-a-form" } });
    const path = "/api/v1/namespaces/default/configmaps";
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      expect((await server.post(path, body, { type, headers })).code).toBe(415);
    }
    expect((await server.get(`${path}/from-a-form`)).code).toBe(404);
  });
});
