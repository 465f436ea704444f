import { expect, test } from "bun:test";
import { type AddressInfo, connect, createServer } from "node:net";
import { type ResponseHead, readResponseHead, requestHead } from "./http1-head.ts";

/** Reads a head from a backend that sends these pieces one by one and then closes. */
async function headFrom(...pieces: readonly string[]): Promise<ResponseHead> {
  const server = createServer(async (socket) => {
    socket.on("error", () => socket.destroy());
    for (const piece of pieces) {
      socket.write(piece);
      await Bun.sleep(1);
    }
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  try {
    return await readResponseHead(socket);
  } finally {
    socket.destroy();
    server.close();
  }
}

test("requestHead() writes the headers in order", () => {
  const head = requestHead("POST", "/exec?a=b", [
    ["host", "n1"],
    ["upgrade", "SPDY/3.1"],
  ]);
  expect(head).toBe("POST /exec?a=b HTTP/1.1\r\nhost: n1\r\nupgrade: SPDY/3.1\r\n\r\n");
});

test("readResponseHead() gives code, headers and what came behind them, however it is cut", async () => {
  const { code, headers, rest } = await headFrom(
    "HTTP/1.1 101 Swi",
    "tching\r\nUpgrade:  x\r\nA: b: c\r",
    "\n\r\n\u0001rest",
  );
  expect({ code, headers, rest: rest.toString() }).toEqual({
    code: 101,
    headers: [
      ["upgrade", "x"],
      ["a", "b: c"],
    ],
    rest: "\u0001rest",
  });
});

test.each([
  ["nonsense", "SSH-2.0-x\r\n\r\n", "malformed HTTP response"],
  ["another version", "HTTP/2 101 x\r\n\r\n", "malformed HTTP response"],
  ["a line without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "malformed HTTP response"],
  ["half a head", "HTTP/1.1 200 OK\r\n", "EOF"],
  ["nothing", "", "EOF"],
  ["a head without end", `HTTP/1.1 200 OK\r\na: ${"x".repeat(70_000)}`, "the head of the response is too large"],
])("readResponseHead() refuses %s", async (_name, text, why) => {
  await expect(headFrom(text)).rejects.toThrow(why);
});
