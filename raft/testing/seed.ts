import { SeededRandom } from "./simulator/seeded-random.ts";

/** Seed of a test's random source, shown in its name. `SEED` in the environment repeats it. */
export const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));

const source = new SeededRandom(seed);

/** Returns a number from 0 up to 1. */
export function random(): number {
  return source.next() / 2 ** 32;
}
