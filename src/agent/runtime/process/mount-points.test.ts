import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { madePaths, removeMadePaths } from "./mount-points.ts";

let folder = "";
const at = (...names: string[]) => join(folder, ...names);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mount-points-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("madePaths() finds the paths that are missing, and those that were made before", () => {
  mkdirSync(at("there"));
  expect(madePaths([at("there", "a", "b"), at("there", "a", "c/")], new Set())).toEqual([
    at("there", "a"),
    at("there", "a", "b"),
    at("there", "a", "c"),
  ]);
  expect(madePaths([at("there")], new Set())).toEqual([]);
  expect(madePaths([at("there")], new Set([at("there")]))).toEqual([at("there")]);
});

test("removeMadePaths() removes empty paths that no container uses", () => {
  const made = [at("a"), at("a", "b"), at("a", "file")];
  mkdirSync(at("a", "b"), { recursive: true });
  writeFileSync(at("a", "file"), "");
  removeMadePaths(made, [at("a", "b")]);
  expect([existsSync(at("a", "b")), existsSync(at("a", "file"))]).toEqual([true, false]);
  removeMadePaths(made, []);
  expect(existsSync(at("a"))).toBe(false);
});

test("removeMadePaths() leaves what has content", () => {
  mkdirSync(at("a"));
  writeFileSync(at("a", "file"), "precious");
  removeMadePaths([at("a"), at("a", "file"), at("gone")], []);
  expect(existsSync(at("a", "file"))).toBe(true);
});
