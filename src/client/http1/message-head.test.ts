import { expect, test } from "bun:test";
import { requestHead } from "./message-head.ts";

test("requestHead() writes the headers in order", () => {
  const head = requestHead("POST", "/exec?a=b", [
    ["host", "n1"],
    ["upgrade", "SPDY/3.1"],
  ]);
  expect(head).toBe("POST /exec?a=b HTTP/1.1\r\nhost: n1\r\nupgrade: SPDY/3.1\r\n\r\n");
});

test.each(["a\nb", "a\r", "a\0"])("requestHead() refuses the value %j and does not show it", (value) => {
  const head = () => requestHead("GET", "/", [["authorization", value]]);
  expect(head).toThrow(/^invalid header field value for "authorization"$/);
});
