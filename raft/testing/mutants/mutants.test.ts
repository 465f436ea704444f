import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readScripts } from "../script/script-file.ts";
import { attemptMutant } from "./attempt-mutant.ts";
import { mutants, mutate } from "./mutant.ts";

const core = join(import.meta.dir, "../../core");

test("there are enough of them, each with its own name", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(100);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

test.each(mutants)("$name: fits the core and has been killed", (mutant) => {
  const text = readFileSync(join(core, mutant.file), "utf8");
  expect(mutate(text, mutant)).not.toBe(text);
  expect(mutant.killedBy.length).toBeGreaterThan(0);
});

test("the scripts that killed mutants are there", () => {
  const scripts = readScripts().map(({ name }) => `script ${name}`);
  const named = mutants.flatMap(({ killedBy }) => killedBy).filter((killer) => killer.startsWith("script "));
  expect(named.filter((killer) => !scripts.includes(killer))).toEqual([]);
});

/** Runs one mutant of each kind. `run.ts` runs all. */
describe("a mutant is killed again", () => {
  test.each([
    ["vote not persisted", 1],
    ["commit counts an entry of an earlier term", 1],
    ["read confirmed without a round", 260],
  ])(
    "%s",
    async (name, from) => {
      const mutant = mutants.find((one) => one.name === name);
      if (mutant === undefined) throw new Error(`there is no mutant "${name}"`);
      const answers = await attemptMutant(mutant, { from, seeds: 40, steps: 20_000 });
      expect(answers.some((answer) => answer.startsWith("script "))).toBe(true);
      expect(answers.some((answer) => answer.startsWith("seed "))).toBe(true);
    },
    120_000,
  );

  test("and the unchanged core survives", async () => {
    const none = { name: "none", file: "", from: "", to: "", killedBy: [] };
    expect(await attemptMutant(none, { from: 1, seeds: 2, steps: 5_000 })).toEqual([]);
  });
});
