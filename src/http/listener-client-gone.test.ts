import { expect, test } from "bun:test";
import http2 from "node:http2";
import { connect } from "node:tls";
import { createAuthority } from "./listener/testing.ts";
import { listen } from "./listener.ts";

test.each(["HTTP/2", "HTTP/1.1"])(
  "a client that leaves in the middle of a reply is no failure: %s",
  async (protocol) => {
    const authority = await createAuthority("CN=ca");
    const server = await authority.issue("CN=server", { usage: "server" });
    const failures: unknown[] = [];
    const ended = Promise.withResolvers<void>();
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(256 * 1024);
      } finally {
        ended.resolve();
      }
    }
    const listener = await listen({
      host: "127.0.0.1",
      port: 0,
      tls: { ...server, ca: [authority.cert] },
      handle: async () => ({ kind: "reply", code: 200, headers: [], body: endless() }),
      onError: (error) => failures.push(error),
    });
    if (protocol === "HTTP/2") {
      const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: authority.cert });
      session.on("error", () => {});
      const stream = session.request({ ":path": "/" });
      stream.on("error", () => {});
      stream.once("data", () => session.destroy());
    } else {
      const target = { port: listener.port, host: "127.0.0.1", ca: authority.cert, ALPNProtocols: ["http/1.1"] };
      const socket = connect(target, () => socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
      socket.on("error", () => {});
      socket.once("data", () => socket.destroy());
    }
    await ended.promise;
    await listener.close(0);
    expect(failures).toEqual([]);
  },
);
