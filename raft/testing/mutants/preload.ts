import { basename, dirname } from "node:path";
import { isOfDriver, type Mutant, mutants, mutantVariable, mutate } from "./mutant.ts";

/** Loads the mutant of this process: it is loaded before everything else, and changes one file as it is read. */
const mutant = mutants.find(({ name }) => name === Bun.env[mutantVariable]);

Bun.plugin({
  name: "mutant",
  setup(build) {
    build.onLoad({ filter: /raft[/\\](core[/\\])?[a-z-]+(?<!\.test)\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      return { contents: mutant !== undefined && isFileOf(mutant, path) ? mutate(text, mutant) : text, loader: "ts" };
    });
  },
});

function isFileOf(meant: Mutant, path: string): boolean {
  return basename(meant.file) === basename(path) && isOfDriver(meant) !== (basename(dirname(path)) === "core");
}
