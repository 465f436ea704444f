import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLog } from "../../process/logs.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { openReplica } from "../../storage/replicated/open-replica.ts";
import { startServingProcesses } from "./serving-processes.ts";

const root = mkdtempSync(join(tmpdir(), "serving-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Starts processes that run `program`, and returns the lines of the log. */
async function start(count: number, program: string) {
  const parts = new AsyncDisposableStack();
  const { store, source } = await openReplica({ directory: mkdtempSync(join(root, "data-")) });
  parts.defer(() => store.close());
  const clock = new ManualClock();
  const lines: string[] = [];
  let withdrawn = 0;
  const processes = parts.use(
    await startServingProcesses({
      count,
      command: [process.execPath, "-e", program],
      options: {},
      port: 1,
      source,
      handle: () => ({ kind: "reply", code: 200, headers: [], body: new Uint8Array() }),
      clock,
      log: openLog({ verbosity: 1, pretty: false, destination: { write: (line) => void lines.push(line) } }),
      onIssuerKeyWithdrawn: () => void withdrawn++,
    }),
  );
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await Bun.sleep(5);
  };
  const ended = () => lines.filter((line) => line.includes("has ended and is replaced")).length;
  return {
    processes,
    clock,
    until,
    ended,
    withdrawn: () => withdrawn,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** A serving process that only answers. */
const answering = `
  process.on("message", ({ kind, id, start, reset }) => {
    if (kind === "start") process.send({ kind: "ready" });
    if (kind === "metrics") process.send({ kind: "answer", id, text: "number " + (reset ? "reset" : process.pid) });
    if (kind === "stop") process.exit(0);
  });`;

test("a process that ends is replaced, each time after a longer wait", async () => {
  await using server = await start(1, "process.exit(1)");
  let waitMs = 100;
  for (let replaced = 1; replaced <= 4; replaced++) {
    await server.until(() => server.ended() === replaced);
    server.clock.advance(waitMs - 1);
    expect(server.clock.timers).toBe(1);
    server.clock.advance(1);
    expect(server.clock.timers).toBe(0);
    waitMs *= 2;
  }
  expect(server.processes.ready()).toBe(0);
});

test("every process that is ready answers, and all end when they are told to", async () => {
  await using server = await start(3, answering);
  expect(await server.processes.metrics(false)).toEqual([]);
  await server.until(() => server.processes.ready() === 3);
  expect(new Set(await server.processes.metrics(false)).size).toBe(3);
  expect(await server.processes.metrics(true)).toEqual(["number reset", "number reset", "number reset"]);
  await server.processes.stop(1_000);
  expect([server.processes.ready(), server.ended()]).toEqual([0, 0]);
});

test("metrics that come late are those of the last answer, and callers share a question", async () => {
  const once = answering.replace('if (kind === "metrics")', 'if (kind === "metrics" && id === 1)');
  await using server = await start(1, once);
  await server.until(() => server.processes.ready() === 1);
  const [one, other] = await Promise.all([server.processes.metrics(false), server.processes.metrics(false)]);
  expect(one).toEqual([expect.stringContaining("number ")]);
  expect(other).toEqual(one);
  const late = server.processes.metrics(false);
  server.clock.advance(5_000);
  expect(await late).toEqual(one);
});

test("an answer that does not come is not waited for", async () => {
  await using server = await start(
    1,
    `process.on("message", ({ kind }) => kind === "start" && process.send({ kind: "ready" }))`,
  );
  await server.until(() => server.processes.ready() === 1);
  const answers = server.processes.metrics(false);
  server.clock.advance(5_000);
  expect(await answers).toEqual([]);
  const stopped = server.processes.stop(0);
  server.clock.advance(2_000);
  await stopped;
  expect(server.ended()).toBe(0);
});

test("a withdrawn key that one process learns of is told, and every process hears of doubts and of the end", async () => {
  const listening = `
    const heard = [];
    process.on("message", ({ kind, id }) => {
      if (kind === "start") process.send({ kind: "issuerKeyWithdrawn" });
      if (kind === "start") process.send({ kind: "ready" });
      if (kind === "doubtIssuerKeys" || kind === "leave") heard.push(kind);
      if (kind === "metrics") process.send({ kind: "answer", id, text: heard.join() });
      if (kind === "stop") process.exit(0);
    });`;
  await using server = await start(2, listening);
  await server.until(() => server.processes.ready() === 2);
  expect(server.withdrawn()).toBe(2);
  server.processes.doubtIssuerKeys();
  server.processes.leave();
  expect(await server.processes.metrics(false)).toEqual(["doubtIssuerKeys,leave", "doubtIssuerKeys,leave"]);
});
