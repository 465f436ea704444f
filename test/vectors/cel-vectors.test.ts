import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCelVectors } from "./cel-vectors.ts";

const directory = join(import.meta.dir, "..", "fixtures", "cel");

test.each(runCelVectors(directory))("$file: every answer is the reference's", ({ differences, equal, total }) => {
  expect(differences.slice(0, 5)).toEqual([]);
  expect(equal).toBe(total);
  expect(total).toBeGreaterThan(300);
});
