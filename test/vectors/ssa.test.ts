import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readCases } from "./replay.ts";
import { replayApply } from "./ssa.ts";

const directory = join(import.meta.dir, "../fixtures/ssa");

describe("recorded applies come out the same", () => {
  const replay = replayApply(directory);
  for (const file of readdirSync(directory).filter((name) => name.endsWith(".jsonl.gz"))) {
    test(file, () => {
      const outcomes = [...readCases(join(directory, file))].map(replay);
      expect(outcomes.length).toBeGreaterThan(0);
      expect(outcomes.filter((difference) => difference !== undefined)).toEqual([]);
    });
  }
});
