import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generateScheme } from "./generate-scheme.ts";

const root = join(import.meta.dir, "..");
const generated = generateScheme();

test.each([...generated])("%s is what the facts say", (path, text) => {
  expect(readFileSync(join(root, path), "utf8")).toBe(text);
});

test("the folders of generated files hold nothing else", () => {
  const folders = [...new Set([...generated.keys()].map((path) => dirname(path)))];
  const found = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`));
  expect(found.sort()).toEqual([...generated.keys()].sort());
});
