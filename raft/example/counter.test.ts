import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { makeCertificates } from "./certificates.ts";

const directory = mkdtempSync(join(tmpdir(), "raft-counter-"));
const processes = new Map<number, Subprocess>();
afterAll(async () => {
  for (const process of processes.values()) process.kill("SIGKILL");
  await Promise.all([...processes.values()].map(({ exited }) => exited));
  rmSync(directory, { recursive: true, force: true });
  reservation.close();
});

/** Ports below those that the system gives to connections, so that none is taken between the check and the start. */
const ports = { first: 20_000, step: 20, steps: 600 };
/** Offsets of the ports on which the three members serve clients and each other. */
const offsets = [1, 2, 3, 11, 12, 13];

/**
 * Finds a port above which all ports of the members are free. The test itself listens on that port until it ends, so that
 * another run of this test chooses other ports.
 */
async function reservePorts(): Promise<{ port: number; reservation: Server }> {
  for (let attempt = 0; attempt < ports.steps; attempt++) {
    const port = ports.first + ((process.pid + attempt) % ports.steps) * ports.step;
    const reservation = await listenOn(port);
    if (reservation === undefined) continue;
    const free = await Promise.all(offsets.map((offset) => isFree(port + offset)));
    if (!free.includes(false)) return { port, reservation };
    reservation.close();
  }
  throw new Error("this test needs seven free ports");
}

/** Returns undefined for a port in use. */
function listenOn(number: number): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(number, "127.0.0.1", () => resolve(server));
  });
}

async function isFree(number: number): Promise<boolean> {
  const server = await listenOn(number);
  server?.close();
  return server !== undefined;
}

const { port, reservation } = await reservePorts();

function start(id: number): void {
  const command = [process.execPath, join(import.meta.dir, "counter.ts"), String(id), directory, String(port)];
  processes.set(id, Bun.spawn(command, { stdout: "ignore", stderr: "inherit" }));
}

/** Retries until the cluster answers, because a leader must be elected first. */
async function ask(id: number, path: string): Promise<number> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${port + id}/${path}`).catch(() => undefined);
    if (answer?.ok) return Number(await answer.text());
    await Bun.sleep(50);
  }
  throw new Error(`member ${id} did not answer`);
}

test("three processes count together, also after all of them were killed", async () => {
  makeCertificates(directory, [1, 2, 3]);
  for (const id of [1, 2, 3]) start(id);
  expect(await ask(1, "apples/5")).toBe(5);
  expect(await ask(2, "apples/2")).toBe(7);
  expect(await ask(3, "apples")).toBe(7);
  for (const process of processes.values()) process.kill("SIGKILL");
  await Promise.all([...processes.values()].map(({ exited }) => exited));
  for (const id of [1, 2, 3]) start(id);
  expect(await ask(3, "apples")).toBe(7);
  expect(await ask(1, "apples/1")).toBe(8);
}, 60_000);
