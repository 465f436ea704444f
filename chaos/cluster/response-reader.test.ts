import { expect, test } from "bun:test";
import { ResponseReader } from "./response-reader.ts";

interface Read {
  readonly code: number;
  readonly body: string;
  readonly keepsOpen: boolean;
}

/** Reads a text in pieces of `pieceBytes` bytes. */
function read(text: string, pieceBytes: number): Read | undefined {
  let body = "";
  let found: Read | undefined;
  const reader = new ResponseReader(
    (chunk) => (body += chunk.toString()),
    (code, keepsOpen) => (found = { code, body, keepsOpen }),
  );
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.read(bytes.subarray(at, at + pieceBytes));
  return found;
}

const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

test.each<[what: string, text: string, expected: Read | undefined]>([
  ["a length", "HTTP/1.1 201 Created\r\ncontent-length: 5\r\n\r\nhello", { code: 201, body: "hello", keepsOpen: true }],
  ["nothing", "HTTP/1.1 204 No Content\r\n\r\n", { code: 204, body: "", keepsOpen: true }],
  [
    "chunks",
    `${chunked}5\r\nhello\r\na;x=y\r\n, you all!\r\n0\r\n\r\n`,
    { code: 200, body: "hello, you all!", keepsOpen: true },
  ],
  [
    "an end",
    "HTTP/1.1 503 Busy\r\nConnection: Close\r\ncontent-length: 2\r\n\r\nno",
    { code: 503, body: "no", keepsOpen: false },
  ],
  ["half a body", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell", undefined],
  ["half of the chunks", `${chunked}5\r\nhello\r\n`, undefined],
])("a response with %s, in pieces of any size", (_, text, expected) => {
  for (const size of [1, 2, 3, 7, 1_000]) expect(read(text, size)).toEqual(expected);
});

test.each(["hello\r\n\r\n", `${chunked}zz\r\n`])("%j is not a response", (text) => {
  expect(() => read(text, 1_000)).toThrow();
});
