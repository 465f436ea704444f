import { expect, test } from "bun:test";
import { SlabWriter } from "./slab-writer.ts";

/** Makes chunks that take long, as the items of a list do that have to be encoded. */
function* slowChunks(count: number, bytes: number): Generator<Uint8Array> {
  for (let at = 0; at < count; at++) {
    const endMs = performance.now() + 3;
    while (performance.now() < endMs);
    yield new Uint8Array(bytes).fill(at);
  }
}

test("others get turns while the chunks of a slab take long to make", async () => {
  const written: number[] = [];
  const writer = new SlabWriter(async (bytes) => void written.push(...bytes));
  let turns = 0;
  let counting = true;
  const count = () => {
    turns++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const chunkBytes = 20 * 1024;
  await writer.addAll(slowChunks(10, chunkBytes));
  await writer.end();
  counting = false;
  expect(turns).toBeGreaterThan(3);
  expect(written.length).toBe(10 * chunkBytes);
  expect(written.every((byte, at) => byte === Math.floor(at / chunkBytes))).toBe(true);
});

test("chunks that take no time are joined", async () => {
  let writes = 0;
  const writer = new SlabWriter(async () => void writes++);
  await writer.addAll(Array.from({ length: 100 }, () => new Uint8Array(1_024)));
  await writer.end();
  // A busy machine may take the CPU away for a moment.
  expect(writes).toBeLessThan(10);
});
