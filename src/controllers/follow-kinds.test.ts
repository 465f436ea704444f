import { expect, test } from "bun:test";
import { followKinds } from "./follow-kinds.ts";

test("something runs for every kind while it is there", () => {
  const said: string[] = [];
  let add: (kind: string) => void = () => {};
  let remove: (kind: string) => void = () => {};
  const kinds = {
    follow(added: (kind: string) => void, removed: (kind: string) => void) {
      [add, remove] = [added, removed];
      for (const kind of ["pods", "nodes"]) added(kind);
      return { [Symbol.dispose]: () => void said.push("unfollowed") };
    },
  };
  const following = followKinds(kinds, (kind) => {
    said.push(`start ${kind}`);
    return { [Symbol.dispose]: () => void said.push(`stop ${kind}`) };
  });
  add("gadgets");
  remove("nodes");
  remove("unknown");
  add("gadgets");
  expect(said.splice(0)).toEqual([
    "start pods",
    "start nodes",
    "start gadgets",
    "stop nodes",
    "stop gadgets",
    "start gadgets",
  ]);
  following[Symbol.dispose]();
  expect(said).toEqual(["unfollowed", "stop pods", "stop gadgets"]);
});
