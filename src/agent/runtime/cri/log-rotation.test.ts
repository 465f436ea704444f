import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { systemClock } from "../../../process/clock.ts";
import { removeLog } from "../log-file/log-writer.ts";
import { rotateLog } from "./log-rotation.ts";

let directory: string;
let path: string;
let nowMs = 0;
const clock = { ...systemClock, nowMs: () => nowMs };
const limits = { bytesMax: 10, filesMax: 3 };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "rotation-"));
  path = join(directory, "0.log");
  nowMs = Date.parse("2026-01-02T03:04:05Z");
});

afterEach(() => rmSync(directory, { recursive: true }));

function rotate(reopen = async () => writeFileSync(path, "")): Promise<void> {
  return rotateLog(path, limits, clock, reopen);
}

test("leaves a small log alone, and asks for one that is absent", async () => {
  writeFileSync(path, "small");
  await rotate();
  expect(readdirSync(directory)).toEqual(["0.log"]);
  rmSync(path);
  await rotate();
  expect(existsSync(path)).toBe(true);
});

test("compresses older parts and removes the oldest", async () => {
  for (const text of ["first text", "second text", "third text"]) {
    writeFileSync(path, text);
    nowMs += 1_000;
    await rotate();
  }
  expect(readdirSync(directory).sort()).toEqual(["0.log", "0.log.20260102-030407.gz", "0.log.20260102-030408"]);
  const older = readFileSync(join(directory, "0.log.20260102-030407.gz"));
  expect(gunzipSync(older).toString()).toBe("second text");
  await removeLog(path);
  expect(readdirSync(directory)).toEqual([]);
});

test("removes what an interrupted rotation left", async () => {
  for (const name of ["0.log", "0.log.1.tmp", "0.log.2", "0.log.2.gz"])
    writeFileSync(join(directory, name), "x".repeat(20));
  await rotate();
  expect(readdirSync(directory).sort()).toEqual(["0.log", "0.log.2.gz", "0.log.20260102-030405"]);
});

test("puts the log back if the runtime does not open another", async () => {
  writeFileSync(path, "a long text");
  const failed = await rotate(async () => {
    throw new Error("the runtime is away");
  }).catch((error: Error) => error.message);
  expect(failed).toBe("the runtime is away");
  expect(readFileSync(path, "utf8")).toBe("a long text");
});
