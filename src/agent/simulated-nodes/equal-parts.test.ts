import { expect, test } from "bun:test";
import { EqualParts } from "./equal-parts.ts";

const podSpec = (volume: string) => ({
  tolerations: [{ key: "a", operator: "Exists" }],
  securityContext: {},
  volumes: [{ name: volume, projected: { sources: [{ configMap: { name: "ca" } }] } }],
});

test("equal parts become the same part, at every depth", () => {
  const parts = new EqualParts();
  const [first, second] = [podSpec("one"), podSpec("two")];
  parts.share(first);
  parts.share(second);
  expect([first, second]).toEqual([podSpec("one"), podSpec("two")]);
  expect(second.tolerations).toBe(first.tolerations);
  expect(second.securityContext).toBe(first.securityContext);
  expect(second.volumes).not.toBe(first.volumes);
  expect(second.volumes[0]?.projected).toBe(first.volumes[0]?.projected as never);
});

test("of a long part only the smaller parts are shared", () => {
  const parts = new EqualParts();
  const long = () => ({ env: [{ name: "a", value: "x".repeat(3_000) }, { name: "b" }] });
  const [first, second] = [long(), long()];
  parts.share(first);
  parts.share(second);
  expect(second).toEqual(long());
  expect(second.env[0]).not.toBe(first.env[0] as never);
  expect(second.env[1]).toBe(first.env[1] as never);
});

test("parts that do not return are forgotten, and numbers of any size and absent objects are fine", () => {
  const parts = new EqualParts();
  const [first, last] = [podSpec("one"), podSpec("one")];
  parts.share(first);
  for (let at = 0; at < 1_000; at++) parts.share({ part: { at: BigInt(at) } });
  parts.share(last);
  parts.share(undefined);
  expect(last.tolerations).not.toBe(first.tolerations);
  expect(last).toEqual(first);
});
