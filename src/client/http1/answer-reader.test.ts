import { expect, test } from "bun:test";
import { AnswerReader } from "./answer-reader.ts";

const bodyBytesMax = 1_000;

/** Reads a text in pieces of this size; `null` closes the connection at the end. */
function read(text: string, pieceBytes = text.length, { closes = false } = {}) {
  const reader = new AnswerReader(bodyBytesMax);
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const answer = reader.read(Buffer.from(bytes.subarray(at, at + pieceBytes)));
    if (answer !== undefined) return { ...answer, body: Buffer.from(answer.body).toString("latin1") };
  }
  const last = closes ? reader.end() : undefined;
  return last && { ...last, body: Buffer.from(last.body).toString("latin1") };
}

const chunked = "transfer-encoding: chunked\r\n\r\n";

test.each([
  ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", true],
  ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "", true],
  ["HTTP/1.1 200\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na", 200, "a", true],
  ["HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 1\r\n\r\na", 200, "a", false],
  ["HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na", 200, "a", false],
  ["HTTP/1.1 204 No Content\r\n\r\n", 204, "", true],
  ["HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", 304, "", true],
  [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\na: b\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na",
    200,
    "a",
    true,
  ],
  [`HTTP/1.1 200 OK\r\n${chunked}0\r\n\r\n`, 200, "", true],
  [`HTTP/1.1 500 X\r\n${chunked}3\r\nabc\r\n00A;x=y\r\n0123456789\r\n0\r\n\r\n`, 500, "abc0123456789", true],
  [`HTTP/1.1 200 OK\r\ncontent-length: 7\r\n${chunked}1 \nX\n0\ntrailer: x\n\n`, 200, "X", true],
])("%j is read, however it is cut", (text, code, body, keepsAlive) => {
  for (let bytes = 1; bytes <= text.length; bytes++) {
    expect(read(text, bytes)).toMatchObject({ code, body, keepsAlive });
  }
});

test("an answer without a length ends with the connection", () => {
  const text = "HTTP/1.1 200 OK\r\na: b\r\n\r\nabc";
  expect(read(text)).toBeUndefined();
  expect(read(text, 5, { closes: true })).toEqual({ code: 200, headers: [["a", "b"]], body: "abc", keepsAlive: false });
});

test("a connection is not used again after bytes that nobody asked for", () => {
  expect(read("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\naHTTP")).toMatchObject({ body: "a", keepsAlive: false });
});

test.each([
  "",
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na",
  `HTTP/1.1 200 OK\r\n${chunked}1\r\na\r\n`,
])("%j is not an answer when the connection ends", (text) => {
  expect(read(text, 1, { closes: true })).toBeUndefined();
});

const tooLong = "the answer is longer than 1000 bytes";
test.each([
  ["another protocol", "SSH-2.0-x\r\n\r\n", "malformed HTTP response"],
  ["another version", "HTTP/2 200 x\r\n\r\n", "malformed HTTP response"],
  ["another protocol asked for", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "malformed HTTP response"],
  ["endless preliminary answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(6), "too many 1xx informational responses"],
  ["an endless head", `HTTP/1.1 200 OK\r\na: ${"x".repeat(70_000)}`, "the head of the response is too large"],
  ["a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", 'bad Content-Length "-1"'],
  ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 'bad Content-Length "1, 2"'],
  [
    "a compressed body",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
    'unsupported transfer encoding: "gzip, chunked"',
  ],
  ["a length beyond the limit", "HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n", tooLong],
  ["a body beyond the limit", `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(1_001)}`, tooLong],
  ["a chunk beyond the limit", `HTTP/1.1 200 OK\r\n${chunked}3e9\r\n${"x".repeat(1_001)}`, tooLong],
  ["chunks beyond the limit", `HTTP/1.1 200 OK\r\n${chunked}${"1\r\nx\r\n".repeat(1_001)}`, tooLong],
  ["a chunk without a size", `HTTP/1.1 200 OK\r\n${chunked}x\r\n`, "malformed chunked encoding"],
  ["a chunk of an absurd size", `HTTP/1.1 200 OK\r\n${chunked}123456789\r\n`, "malformed chunked encoding"],
  ["a chunk longer than its size", `HTTP/1.1 200 OK\r\n${chunked}1\r\nxy\r\n`, "malformed chunked encoding"],
  ["an endless chunk line", `HTTP/1.1 200 OK\r\n${chunked}1;${"x".repeat(300)}`, "header line too long"],
  [
    "an endless trailer",
    `HTTP/1.1 200 OK\r\n${chunked}0\r\n${`${"x".repeat(50_000)}\r\n`.repeat(2)}`,
    "the trailer of the response is too large",
  ],
])("%s is refused", (_name, text, why) => {
  for (const bytes of [text.length, 1_000]) expect(() => read(text, bytes)).toThrow(why);
});
