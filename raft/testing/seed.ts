import { SeededRandom } from "./simulator/seeded-random.ts";

/** What a test draws from, by the seed that its name shows; `SEED` in the environment repeats it. */
export const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));

const source = new SeededRandom(seed);

/** From 0 up to 1. */
export function random(): number {
  return source.next() / 2 ** 32;
}
