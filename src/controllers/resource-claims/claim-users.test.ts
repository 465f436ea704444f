import { expect, test } from "bun:test";
import { ClaimUsers } from "./claim-users.ts";

test("a claim leads to the pods that name it now", () => {
  const users = new ClaimUsers();
  users.set("a", ["shared", "template"]);
  users.set("b", ["shared"]);
  expect([...users.of("shared")]).toEqual(["a", "b"]);
  users.set("a", ["own"]);
  expect([[...users.of("shared")], [...users.of("template")], [...users.of("own")]]).toEqual([["b"], [], ["a"]]);
  users.delete("b");
  users.delete("unknown");
  expect([...users.of("shared")]).toEqual([]);
});
