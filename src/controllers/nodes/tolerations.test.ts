import { expect, test } from "bun:test";
import { toleratedSeconds } from "./tolerations.ts";

const taint = (key: string, value = "") => ({ key, value, effect: "NoExecute" });
const exists = (key: string, tolerationSeconds?: number) => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
});

test.each([
  ["no toleration", [taint("a")], [], undefined],
  ["one without seconds", [taint("a")], [exists("a")], Number.POSITIVE_INFINITY],
  ["one with seconds", [taint("a")], [exists("a", 30)], 30],
  ["the shortest of those in use", [taint("a"), taint("b")], [exists("a", 30), exists("b", 20), exists("c", 1)], 20],
  ["the first of several for a taint", [taint("a")], [exists("a", 30), exists("a", 10)], 30],
  ["one taint that is not tolerated", [taint("a"), taint("b")], [exists("a")], undefined],
  ["a negative number", [taint("a")], [exists("a", -5)], 0],
  ["every taint", [taint("a"), taint("b")], [{ operator: "Exists" }], Number.POSITIVE_INFINITY],
  ["another effect", [taint("a")], [{ key: "a", operator: "Exists", effect: "NoSchedule" }], undefined],
  ["an equal value", [taint("a", "x")], [{ key: "a", value: "x" }], Number.POSITIVE_INFINITY],
  ["another value", [taint("a", "x")], [{ key: "a", operator: "Equal", value: "y" }], undefined],
  ["an operator behind a gate", [taint("a", "5")], [{ key: "a", operator: "Gt", value: "1" }], undefined],
])("a pod with %s", (_, taints, tolerations, seconds) => {
  expect(toleratedSeconds(taints, tolerations)).toBe(seconds as never);
});
