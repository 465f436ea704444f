import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
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

/** Returns a free port. The members listen on the ports just above it. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port > 60_000 ? port - 100 : port;
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
