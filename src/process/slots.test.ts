import { expect, test } from "bun:test";
import { Slots } from "./slots.ts";

test("work beyond the slots waits in order, and failed work frees its slot", async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<number>());
  const runs = ends.map(({ promise }, at) =>
    slots.run(() => {
      begun.push(at);
      return promise;
    }),
  );
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error("failed"));
  await expect(runs[1] as Promise<number>).rejects.toThrow("failed");
  expect(begun).toEqual([0, 1, 2]);
  for (const [at, end] of ends.entries()) end.resolve(at);
  expect(await Promise.all([runs[0], runs[2], runs[3]])).toEqual([0, 2, 3]);
  expect(begun).toEqual([0, 1, 2, 3]);
});
