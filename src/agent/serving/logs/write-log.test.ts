import { expect, test } from "bun:test";
import { MemorySink } from "../../../storage/cacher/testing.ts";
import { logLines } from "../testing.ts";
import { type LogOptions, parseLogOptions } from "./log-options.ts";
import { type ReadLog, writeLog } from "./write-log.ts";

const nowMs = 4_000;
const lines = ["one\n", "two\n", "three\n", "four\n"];

async function written(query: string, texts: readonly string[] = lines): Promise<string> {
  return textWith(parseLogOptions(new URLSearchParams(query), nowMs), () => logLines(...texts));
}

async function textWith(options: LogOptions, read: ReadLog): Promise<string> {
  const sink = new MemorySink();
  await writeLog(read, options, sink);
  return Buffer.concat(sink.chunks).toString();
}

test.each([
  ["", "one\ntwo\nthree\nfour\n"],
  ["tailLines=2", "three\nfour\n"],
  ["tailLines=0", ""],
  ["tailLines=9", "one\ntwo\nthree\nfour\n"],
  ["tail=1", "four\n"],
  ["tail=all&tailLines=1", "one\ntwo\nthree\nfour\n"],
  ["limitBytes=6", "one\ntw"],
  ["limitBytes=4", "one\n"],
  ["sinceSeconds=2", "three\nfour\n"],
  ["sinceTime=1970-01-01T00:00:03Z", "four\n"],
  ["sinceTime=1970-01-01T00:00:01Z&tailLines=1", "four\n"],
  ["tailLines=1&limitBytes=2", "fo"],
  ["follow=true&tailLines=1", "four\n"],
  ["timestamps=true&tailLines=1", "1970-01-01T00:00:03.123456789Z four\n"],
  ["timestamps=false&follow=0&tailLines=1", "four\n"],
])("%s", async (query, expected) => {
  expect(await written(query)).toBe(expected);
});

test("a line in parts is one line", async () => {
  const parts = ["one\n", "tw", "o\n", "three"];
  expect(await written("tailLines=1", parts)).toBe("two\nthree");
  expect(await written("timestamps=true", parts)).toBe(
    "1970-01-01T00:00:00.123456789Z one\n1970-01-01T00:00:01.123456789Z two\n1970-01-01T00:00:03.123456789Z three",
  );
});

test("a long log waits for its client, and ends with it", async () => {
  const sink = new MemorySink();
  let read = 0;
  const endless: ReadLog = async function* ({ signal }) {
    for (; !signal.aborted; read++) yield* logLines(`${"x".repeat(1_000)}\n`);
  };
  sink.stall();
  const writing = writeLog(endless, parseLogOptions(new URLSearchParams("follow=true"), nowMs), sink);
  await Bun.sleep(20);
  expect(read).toBeLessThan(200);
  sink.resume();
  await Bun.sleep(1);
  sink.abort();
  await writing;
});

test("a single line is sent without waiting for others", async () => {
  const sink = new MemorySink();
  const { promise: more, resolve } = Promise.withResolvers<void>();
  const slow: ReadLog = async function* () {
    yield* logLines("first\n");
    await more;
    yield* logLines("second\n");
  };
  const writing = writeLog(slow, parseLogOptions(new URLSearchParams("follow=true"), nowMs), sink);
  while (sink.chunks.length === 0) await Bun.sleep(1);
  expect(Buffer.concat(sink.chunks).toString()).toBe("first\n");
  resolve();
  await writing;
  expect(Buffer.concat(sink.chunks).toString()).toBe("first\nsecond\n");
});
