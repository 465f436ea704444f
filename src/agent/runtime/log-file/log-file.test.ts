import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../process/clock.ts";
import { parseEntry, readLog } from "./log-reader.ts";
import { LogWriter, rotatedLogs } from "./log-writer.ts";

let folder = "";
let path = "";
let nowMs = Date.parse("2026-03-01T10:00:00.005Z");
const clock: Clock = { ...systemClock, nowMs: () => nowMs };
const forever = new AbortController().signal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "log-file-"));
  path = join(folder, "web", "0.log");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function texts(source: AsyncIterable<{ stream: string; text: Uint8Array }>): Promise<string[]> {
  const found: string[] = [];
  for await (const { stream, text } of source) found.push(`${stream} ${Buffer.from(text)}`);
  return found;
}

describe("LogWriter", () => {
  test("writes one entry per line in CRI's format", () => {
    const log = new LogWriter({ path, clock });
    log.write("stdout", Buffer.from("one\ntw"));
    log.write("stderr", Buffer.from("oops\n"));
    log.write("stdout", Buffer.from("o\nrest"));
    log[Symbol.dispose]();
    expect(readFileSync(path, "utf8").split("\n")).toEqual([
      "2026-03-01T10:00:00.005000000Z stdout F one",
      "2026-03-01T10:00:00.005000000Z stderr F oops",
      "2026-03-01T10:00:00.005000000Z stdout F two",
      "2026-03-01T10:00:00.005000000Z stdout F rest",
      "",
    ]);
  });

  test("continues the file of an earlier writer", () => {
    for (const text of ["a\n", "b\n"]) {
      using log = new LogWriter({ path, clock });
      log.write("stdout", Buffer.from(text));
    }
    expect(readFileSync(path, "utf8")).toMatch(/F a\n.*F b\n$/);
  });

  test("divides a line of more than 16 KiB into partial entries", async () => {
    using log = new LogWriter({ path, clock });
    log.write("stdout", Buffer.from("x".repeat(40_000)));
    log.write("stdout", Buffer.from("end\n"));
    const lines = await texts(readLog(path, forever));
    expect(lines.map((line) => line.length - "stdout ".length)).toEqual([16_384, 16_384, 40_000 - 32_768 + 4]);
    expect(lines.map((line) => line.endsWith("\n"))).toEqual([false, false, true]);
  });

  test("rotates at the size, and keeps the newest files", () => {
    using log = new LogWriter({ path, clock, fileBytesMax: 100, filesMax: 3 });
    for (let i = 0; i < 20; i++) {
      nowMs += 1;
      log.write("stdout", Buffer.from(`line ${i}\n`));
    }
    expect(rotatedLogs(path)).toHaveLength(2);
    const all = [...rotatedLogs(path), path].map((file) => readFileSync(file, "utf8")).join("");
    expect(all.match(/line \d+/g)?.at(-1)).toBe("line 19");
    expect(readFileSync(path).length).toBeLessThanOrEqual(100);
  });

  test("keeps only the current file if that is the limit", () => {
    using log = new LogWriter({ path, clock, fileBytesMax: 100, filesMax: 1 });
    for (let i = 0; i < 20; i++) log.write("stdout", Buffer.from(`line ${i}\n`));
    expect(rotatedLogs(path)).toEqual([]);
  });
});

describe("readLog()", () => {
  test("follows a log across rotations to its end", async () => {
    const log = new LogWriter({ path, clock, fileBytesMax: 300 });
    const read = texts(readLog(path, forever, log));
    for (let i = 0; i < 100; i++) {
      nowMs += 1;
      log.write("stdout", Buffer.from(`${i}\n`));
      // One rotation at a time: a reader that is slower than two rotations may miss lines.
      await Bun.sleep(1);
    }
    log[Symbol.dispose]();
    expect(await read).toEqual(Array.from({ length: 100 }, (_, i) => `stdout ${i}\n`));
  });

  test("ends when the signal is aborted", async () => {
    using log = new LogWriter({ path, clock });
    log.write("stdout", Buffer.from("a\n"));
    const stop = new AbortController();
    const read = texts(readLog(path, stop.signal, log));
    stop.abort();
    expect((await read).length).toBeLessThanOrEqual(1);
  });

  test("leaves no listeners at the signal of a client that follows for long", async () => {
    const log = new LogWriter({ path, clock });
    const { signal } = new AbortController();
    const add = spyOn(signal, "addEventListener");
    const remove = spyOn(signal, "removeEventListener");
    const lines = readLog(path, signal, log);
    for (let i = 0; i < 20; i++) {
      const next = lines.next();
      log.write("stdout", Buffer.from(`${i}\n`));
      expect((await next).done).toBe(false);
      expect(add.mock.calls.length - remove.mock.calls.length).toBeLessThanOrEqual(1);
    }
    log[Symbol.dispose]();
    expect((await lines.next()).done).toBe(true);
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
  });

  test("reads a missing file as an empty log", async () => {
    expect(await texts(readLog(join(folder, "none.log"), forever))).toEqual([]);
  });

  test("skips lines in another form", async () => {
    const file = join(folder, "mixed.log");
    writeFileSync(file, "rubbish\n2026-03-01T10:00:00Z stdout F fine\n2026-03-01T10:00:00Z stdin F no\nend");
    expect(await texts(readLog(file, forever))).toEqual(["stdout fine\n"]);
  });
});

test.each([
  ["2026-03-01T10:00:00.5Z stdout F a b", "a b\n"],
  ["2026-03-01T10:00:00.5Z stderr P a", "a"],
  ["2026-03-01T10:00:00.5Z stdout F ", "\n"],
  ["2026-03-01T10:00:00.5Z stdout P:other a", "a"],
  ["yesterday stdout F a", undefined],
  ["2026-03-01T10:00:00.5Z stdout", undefined],
])("parseEntry() reads %j", (line, text) => {
  const entry = parseEntry(Buffer.from(line));
  expect(entry === undefined ? undefined : Buffer.from(entry.text).toString()).toBe(text);
});
