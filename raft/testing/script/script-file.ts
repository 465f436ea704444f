import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must } from "../simulator/violation.ts";
import type { Script } from "./script.ts";
import { runScript } from "./script.ts";

const folder = join(import.meta.dir, "scenarios");

/** Returns all scenarios of the folder, by name. */
export function readScripts(): Script[] {
  const names = readdirSync(folder).filter((file) => file.endsWith(".txt"));
  return names.sort().map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return { name: file.replace(".txt", ""), title: text.split("\n")[0] ?? "", text };
  });
}

/** Runs a scenario. @throws Violation that shows the first line that differs */
export function checkScript(script: Script): void {
  const expected = script.text.split("\n");
  const actual = runScript(script).split("\n");
  const at = expected.findIndex((line, index) => line !== actual[index]);
  const [wanted, got] = [expected[at], actual[at]];
  must(at === -1 && actual.length === expected.length, () => `line ${at + 1} is "${got}" instead of "${wanted}"`);
}

/** Records the current behaviour of a scenario. */
export function rewriteScript(script: Script): void {
  writeFileSync(join(folder, `${script.name}.txt`), runScript(script));
}
