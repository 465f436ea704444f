import { expect, test } from "bun:test";
import { runScript } from "./script.ts";
import { readScripts } from "./script-file.ts";

const scripts = readScripts();

test("every scenario has a title, and no two titles are the same", () => {
  expect(new Set(scripts.map(({ title }) => title)).size).toBe(scripts.length);
  expect(scripts.length).toBeGreaterThan(50);
});

test.each(scripts)("$title", (script) => {
  expect(runScript(script)).toBe(script.text);
});
