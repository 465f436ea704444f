import { basename } from "node:path";
import { mutantVariable, mutants, mutate } from "./mutant.ts";

/** Loaded before everything else in a process that runs with a mutant: changes one file of the core as it is read. */
const mutant = mutants.find(({ name }) => name === Bun.env[mutantVariable]);

Bun.plugin({
  name: "mutant",
  setup(build) {
    build.onLoad({ filter: /raft[/\\]core[/\\][a-z-]+\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      return { contents: mutant?.file === basename(path) ? mutate(text, mutant) : text, loader: "ts" };
    });
  },
});
