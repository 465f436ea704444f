import { expect, test } from "bun:test";
import { decodeConfEntry, encodeConfEntry } from "./conf-entry.ts";
import type { MemberId } from "./ids.ts";

const ids = (...members: number[]) => members as MemberId[];

test.each([
  [[], [], [], []],
  [[1, 2, 3], [], [4], []],
  [[1, 4, 2 ** 53 - 1], [1, 2, 2 ** 32], [7, 8], [2]],
])("a membership of %p, %p, %p and %p comes back from its entry", (voters, outgoing, learners, learnersNext) => {
  const membership = {
    voters: ids(...voters),
    outgoing: ids(...outgoing),
    learners: ids(...learners),
    learnersNext: ids(...learnersNext),
  };
  const context = new TextEncoder().encode("an address");
  const back = decodeConfEntry(encodeConfEntry({ membership, context }));
  expect(back.membership).toEqual(membership);
  expect([...back.context]).toEqual([...context]);
});

test("an entry that is truncated or of another version is rejected", () => {
  const membership = { voters: ids(1, 2), outgoing: [], learners: [], learnersNext: [] };
  const data = encodeConfEntry({ membership, context: new Uint8Array() });
  expect(() => decodeConfEntry(data.subarray(0, 9))).toThrow(RangeError);
  expect(() => decodeConfEntry(new Uint8Array())).toThrow("unknown version");
  expect(() => decodeConfEntry(Uint8Array.of(2, ...data.subarray(1)))).toThrow("unknown version");
});
