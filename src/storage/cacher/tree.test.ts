import { expect, test } from "bun:test";
import type { Entry } from "../../api/entry.ts";
import { countEntries, entryTree, forEntries } from "./tree.ts";

const seed = Number(Bun.env["SEED"] ?? Date.now() % 2 ** 31);
let state = seed;
const random = (below: number) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return state % below;
};
const keyOf = (number: number) => `/registry/configmaps/${String(number).padStart(5, "0")}`;

test(`entries are counted as they are visited (SEED=${seed})`, () => {
  const tree = entryTree();
  const copies = [tree.clone()];
  for (let step = 0; step < 20_000; step++) {
    const key = keyOf(random(8_000));
    if (random(3) === 0) tree.delete(key);
    else tree.set(key, { key } as Entry);
    if (step % 2_000 === 0) copies.push(tree.clone());
  }
  for (const copy of [tree, ...copies]) {
    for (let round = 0; round < 50; round++) {
      const [low = 0, high = 0] = [random(9_000), random(9_000)].sort((a, b) => a - b);
      let visited = 0;
      forEntries(copy, keyOf(low), keyOf(high), () => ++visited > 0);
      expect(countEntries(copy, keyOf(low), keyOf(high))).toBe(visited);
    }
    expect(countEntries(copy, "/registry/configmaps/", "/registry/configmaps0")).toBe(copy.size);
  }
});
