import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
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
});

/** Ports below those that the system gives to connections, so that none is taken between the check and the start. */
const ports = { first: 20_000, step: 20, steps: 600 };
/** Offsets of the ports that the three members serve clients and each other on. */
const offsets = [1, 2, 3, 11, 12, 13];

/** Returns a port above which all ports of the members are free. Other runs begin their search elsewhere. */
async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ports.steps; attempt++) {
    const base = ports.first + ((process.pid + attempt) % ports.steps) * ports.step;
    const free = await Promise.all(offsets.map((offset) => isFree(base + offset)));
    if (!free.includes(false)) return base;
  }
  throw new Error("this test needs six free ports");
}

function isFree(number: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(number, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

const port = await freePort();

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
