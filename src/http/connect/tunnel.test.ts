import { expect, test } from "bun:test";
import { type AddressInfo, createServer } from "node:net";
import { Duplex } from "node:stream";
import type { IncomingRequest, StreamReply } from "../../request/exchange.ts";
import { MemorySink } from "../../storage/cacher/testing.ts";
import { tunnel } from "./tunnel.ts";

test("the last bytes of a backend reach a client that takes them slowly", async () => {
  const output = "x".repeat(100_000);
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\r\n");
      socket.end(output);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let received = "";
  const client = new Duplex({
    read() {},
    async write(chunk: Buffer, _encoding, done) {
      await Bun.sleep(50);
      received += chunk.toString();
      done();
    },
    final(done) {
      // A client closes its side when the other one ends.
      this.push(null);
      done();
    },
  });
  const request = { method: "POST", headers: [["upgrade", "SPDY/3.1"]] } as unknown as IncomingRequest;
  const upgraded = { socket: client, head: new Uint8Array() };
  const reply = await tunnel(request, upgraded, { protocol: "http", host: "127.0.0.1", port }, "/exec");
  await (reply as StreamReply).run(new MemorySink());
  expect(received.length).toBe(output.length);
  server.close();
});
