import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../storage/cacher/testing.ts";
import type { EncodeEvent } from "./encode-event.ts";
import { logBackend } from "./log-backend.ts";
import { RotatingFile } from "./rotating-file.ts";
import { testEvent } from "./testing.ts";
import { WebhookBackend, type WebhookBackendOptions } from "./webhook-backend.ts";

const root = mkdtempSync(join(tmpdir(), "quorate-audit-backend-"));
afterAll(() => rmSync(root, { recursive: true }));
const folder = () => mkdtempSync(join(root, "f-"));
const day = 86_400_000;

describe("a file", () => {
  test("is put aside when it is full, without losing an event", () => {
    const directory = folder();
    const clock = new ManualClock();
    const file = new RotatingFile({
      file: join(directory, "audit.log"),
      clock,
      sizeBytesMax: 10,
      ageMsMax: 0,
      backupsMax: 0,
    });
    for (const text of ["1234\n", "5678\n", "90\n", "a line that is longer than a file\n"]) {
      file.write(Buffer.from(text));
      clock.advance(1);
    }
    file.close();
    const names = readdirSync(directory).sort();
    expect(names.map((name) => readFileSync(join(directory, name), "utf8"))).toEqual([
      "1234\n5678\n",
      "90\n",
      "a line that is longer than a file\n",
    ]);
    expect(names[0]).toMatch(/^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/);
    expect(statSync(join(directory, "audit.log")).mode & 0o777).toBe(0o600);
  });

  test("two that are full in the same millisecond are both kept", () => {
    const directory = folder();
    const file = new RotatingFile({
      file: join(directory, "a.log"),
      clock: new ManualClock(),
      sizeBytesMax: 1,
      ageMsMax: 0,
      backupsMax: 0,
    });
    for (const text of ["1", "2", "3", "4"]) file.write(Buffer.from(text));
    file.close();
    expect(readdirSync(directory)).toHaveLength(4);
  });

  test("old ones are deleted by number and by age, and files of others stay", () => {
    const directory = folder();
    const clock = new ManualClock();
    writeFileSync(join(directory, "audit-notes.log"), "mine");
    const options = { file: join(directory, "audit.log"), clock, sizeBytesMax: 1 };
    const counted = new RotatingFile({ ...options, ageMsMax: 0, backupsMax: 2 });
    for (let at = 0; at < 6; at++) {
      counted.write(Buffer.from(String(at)));
      clock.advance(day);
    }
    counted.close();
    expect(readdirSync(directory)).toHaveLength(4);
    clock.advance(day);
    new RotatingFile({ ...options, ageMsMax: day, backupsMax: 0 }).close();
    expect(readdirSync(directory).sort()).toEqual(["audit-notes.log", "audit.log"]);
  });

  test("of several writers is rotated by one, and the others follow, without a torn or lost line", async () => {
    const directory = folder();
    const options = {
      file: join(directory, "audit.log"),
      clock: new ManualClock(),
      sizeBytesMax: 200,
      ageMsMax: 0,
      backupsMax: 0,
    };
    const rotating = new RotatingFile({ ...options, sharing: "rotates" });
    const following = [1, 2].map(() => new RotatingFile({ ...options, sharing: "follows" }));
    const written: string[] = [];
    for (let at = 0; at < 100; at++) {
      for (const [writer, file] of [rotating, ...following].entries()) {
        const line = `line ${at} of writer ${writer}`;
        written.push(line);
        if (at % 2 === 0) file.write(Buffer.from(`${line}\n`));
        else await file.writeLater(Buffer.from(`${line}\n`));
      }
    }
    for (const file of [rotating, ...following]) file.close();
    const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));
    expect(files.length).toBeGreaterThan(10);
    // The others may write once more before the next rotation.
    for (const text of files) expect(text.length).toBeLessThan(300);
    expect(files.join("").trimEnd().split("\n").sort()).toEqual(written.sort());
  });

  test("an existing one is continued", async () => {
    const file = join(folder(), "audit.log");
    writeFileSync(file, "before\n");
    const options = {
      file,
      clock: new ManualClock(),
      sizeBytesMax: 1e6,
      ageMsMax: 0,
      backupsMax: 0,
      truncation: undefined,
      encode: writeId,
      lost: { value: 0 },
      onError() {},
    };
    const batched = logBackend({ ...options, mode: "batch" });
    void batched.write(named("one"));
    void batched.write(named("two"));
    await batched.close();
    const strict = logBackend({ ...options, mode: "blocking-strict" });
    void strict.write(named("three"));
    expect(readFileSync(file, "utf8")).toBe("before\none\ntwo\nthree\n");
    await strict.close();
    expect(() => strict.write(named("four"))).toThrow();
  });
});

test.each(["batch", "blocking"] as const)("a log writes at most one batch at once: %s", async (mode) => {
  const directory = folder();
  const log = logBackend({
    file: join(directory, "audit.log"),
    clock: new ManualClock(),
    mode,
    truncation: { eventBytesMax: 10, batchBytesMax: 60 },
    encode: writeId,
    sizeBytesMax: 60,
    ageMsMax: 0,
    backupsMax: 0,
    lost: { value: 0 },
    onError() {},
  });
  for (let at = 0; at < 30; at++) void log.write(named(String(at).padStart(9, "é")));
  await log.close();
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name)));
  expect(files.every(({ length }) => length <= 60)).toBe(true);
  const numbers = files
    .flatMap((file) => file.toString().trim().split("\n"))
    .map((line) => Number(line.replaceAll("é", "")));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at));
});

/** Encodes an event as a line with its id. */
const writeId: EncodeEvent = (out, { auditId }) => {
  out.text(auditId);
  return true;
};
const named = (auditId: string) => testEvent({ auditId });

test("a batch that does not fit on the disk is counted and reported once, and delays no request", async () => {
  const errors: unknown[] = [];
  const lost = { value: 0 };
  const log = logBackend({
    file: "/dev/full",
    clock: new ManualClock(),
    mode: "batch",
    truncation: undefined,
    encode: writeId,
    sizeBytesMax: 1e9,
    ageMsMax: 0,
    backupsMax: 0,
    lost,
    onError: (error) => errors.push(error),
  });
  const large = "x".repeat(1024 * 1024);
  for (let at = 0; at < 40; at++) expect(log.write(named(large))).toBeUndefined();
  await log.close();
  expect([lost.value, errors.length]).toEqual([40, 1]);
});

/** Returns a backend whose receiver answers with these codes in turn, and then repeats the last one. */
function webhook(codes: readonly (number | "hangs")[], options: Partial<WebhookBackendOptions> = {}) {
  const clock = new ManualClock();
  const received: any[] = [];
  const errors: unknown[] = [];
  const lost = { value: 0 };
  let calls = 0;
  const backend = new WebhookBackend({
    clock,
    mode: "batch",
    bufferSize: 100,
    batchSizeMax: 10,
    batchWaitMs: 1_000,
    initialBackoffMs: 100,
    throttleQps: 0,
    throttleBurst: 1,
    truncation: undefined,
    lost,
    onError: (error) => errors.push(error),
    ...options,
    endpoint: {
      async post(body) {
        const code = codes[Math.min(calls++, codes.length - 1)];
        if (code === "hangs") return new Promise(() => {});
        if (code === 200) received.push(JSON.parse(body));
        return { code: code as number, body: new Uint8Array() };
      },
    },
  });
  const write = (count: number) => {
    for (let at = 0; at < count; at++) void backend.write(`{"n":${at}}`);
  };
  const idle = () => Bun.sleep(1);
  return { backend, lost, clock, received, errors, write, idle, calls: () => calls };
}

describe("a webhook", () => {
  test("gets lists of events, full ones at once and others after a while", async () => {
    const { clock, received, write, idle } = webhook([200]);
    write(12);
    await idle();
    expect(received.map(({ items }) => items.length)).toEqual([10, 2]);
    expect(received[0]).toMatchObject({ kind: "EventList", apiVersion: "audit.k8s.io/v1" });
    expect(received[0].items.slice(0, 2)).toEqual([{ n: 0 }, { n: 1 }]);
    write(1);
    await idle();
    expect(received).toHaveLength(2);
    clock.advance(1_000);
    await idle();
    expect(received).toHaveLength(3);
  });

  test("gets at most one batch of bytes at once, but at least one event", async () => {
    const { received, write, idle } = webhook([200], { truncation: { eventBytesMax: 20, batchBytesMax: 20 } });
    write(12);
    await idle();
    expect(received.map(({ items }) => items.length)).toEqual([2, 2, 2, 2, 2, 2]);
    const tiny = webhook([200], { truncation: { eventBytesMax: 1, batchBytesMax: 1 } });
    tiny.write(10);
    await tiny.idle();
    expect(tiny.received.map(({ items }) => items.length)).toEqual(Array(10).fill(1));
  });

  test("is retried with growing delays, then given up", async () => {
    const { lost, clock, errors, write, idle, calls } = webhook([500]);
    write(10);
    for (const [tries, waitMs] of [
      [1, 100],
      [2, 150],
      [3, 225],
      [4, 337.5],
      [5, 0],
    ] as const) {
      await idle();
      expect(calls()).toBe(tries);
      clock.advance(waitMs);
    }
    await idle();
    expect([lost.value, errors.length]).toEqual([10, 1]);
  });

  test("attack 62: loses events if it does not keep up, and delays no request", async () => {
    const { lost, errors, write, idle } = webhook(["hangs"], { bufferSize: 20 });
    write(200);
    await idle();
    // Ten events are being sent, and twenty wait.
    expect(lost.value).toBe(170);
    expect(errors).toHaveLength(1);
  });

  test("gets requests no more often than allowed", async () => {
    const { clock, received, write, idle } = webhook([200], { batchSizeMax: 1, throttleQps: 10, throttleBurst: 2 });
    write(2);
    await idle();
    clock.set(-3_600_000);
    write(2);
    await idle();
    expect(received).toHaveLength(2);
    clock.advance(100);
    await idle();
    expect(received).toHaveLength(3);
  });

  test("gets waiting events when the server ends", async () => {
    const { backend, received, write } = webhook([200]);
    write(3);
    await backend.close();
    expect(received.map(({ items }) => items.length)).toEqual([3]);
  });

  test("delays the request, and fails it, where configured", async () => {
    const strict = webhook([500], { mode: "blocking-strict" });
    await expect(Promise.resolve(strict.backend.write("{}"))).rejects.toThrow("answered 500");
    const blocking = webhook([500, 200], { mode: "blocking" });
    await blocking.backend.write("{}");
    await blocking.backend.write("{}");
    expect([blocking.lost.value, blocking.received.length]).toEqual([1, 1]);
  });
});
