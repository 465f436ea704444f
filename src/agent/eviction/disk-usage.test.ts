import { afterEach, beforeEach, expect, test } from "bun:test";
import { linkSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskUsage, noDiskUsage } from "./disk-usage.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "disk-usage-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("counts files and folders, each file once, and follows no link", async () => {
  const empty = await diskUsage(folder);
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a", "file"), Buffer.alloc(100_000, 1));
  linkSync(join(folder, "a", "file"), join(folder, "same"));
  symlinkSync("/usr", join(folder, "link"));
  const { bytes, inodes } = await diskUsage(folder);
  expect(inodes).toBe(4);
  expect(bytes - empty.bytes).toBeWithin(100_000, 130_000);
});

test("does not read the names of a large folder, and counts the most files", async () => {
  const large = join(folder, "large");
  mkdirSync(large);
  writeFileSync(join(large, "file"), Buffer.alloc(100_000, 1));
  const { bytes, inodes } = await diskUsage(large, lstatSync(large).size - 1);
  expect(inodes).toBe(200_000);
  expect(bytes).toBeLessThan(100_000);
});

test("is nothing for a path that does not exist", async () => {
  expect(await diskUsage(join(folder, "none"))).toEqual(noDiskUsage);
});
