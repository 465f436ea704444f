import { expect, test } from "bun:test";
import { createServer } from "node:net";
import type { Logger } from "@libp2p/interface";
import { multiaddr } from "@multiformats/multiaddr";
import { tcpTransport } from "./tcp-transport.ts";

const silent: Logger = Object.assign(() => {}, { enabled: false, error() {}, trace() {}, newScope: () => silent });

test("an abandoned attempt to connect fails and leaves no error that would end the process", async () => {
  const uncaught: unknown[] = [];
  const collect = (error: unknown) => uncaught.push(error);
  process.on("uncaughtException", collect);
  const server = createServer().listen(0, "127.0.0.1");
  try {
    const { port } = server.address() as { port: number };
    const transport = tcpTransport({ logger: { forComponent: () => silent } });
    const giveUp = new AbortController();
    const dialing = transport.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}`), {
      signal: giveUp.signal,
      upgrader: undefined as never,
    });
    giveUp.abort();
    expect(await dialing.catch((error: Error) => error.name)).toBe("AbortError");
    await Bun.sleep(50);
    expect(uncaught).toEqual([]);
  } finally {
    process.off("uncaughtException", collect);
    server.close();
  }
});
