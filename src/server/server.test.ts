import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "../../raft/testing/free-ports.ts";
import { systemClock } from "../process/clock.ts";
import { StartupError } from "../process/startup-error.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { startServer, startServerOn } from "./server.ts";

test("closing twice is closing once", async () => {
  const server = await startServer();
  const closing = server.close({ graceMs: 0 });
  expect(server.close()).toBe(closing);
  await closing;
  expect(await isListening(server.port)).toBe(false);
});

test("a store that others use stays open", async () => {
  const store = new MemoryStore({ clock: systemClock });
  const server = await startServerOn(store);
  await server.close({ graceMs: 0 });
  expect(store.failure).toBeUndefined();
  expect(await store.readBarrier()).toBe(store.revision);
  await store.close();
});

test("a start that fails at its last part closes those before it", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "quorate-server-"));
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const [securePort = 0, peerPort = 0] = await freePorts(2);
  const options = {
    dataDir,
    securePort,
    peerAddress: `127.0.0.1:${peerPort}`,
    gossipAddress: `127.0.0.1:${taken.port}`,
  };
  try {
    await expect(startServer(options)).rejects.toBeInstanceOf(StartupError);
    expect(await isListening(securePort)).toBe(false);
    // Reopening also proves that the data directory is no longer locked.
    const again = await startServer({ dataDir, securePort, peerAddress: options.peerAddress, gossip: false });
    await again.close({ graceMs: 0 });
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}
