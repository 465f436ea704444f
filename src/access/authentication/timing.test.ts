import { describe, expect, test } from "bun:test";
import { bootstrapTokenUser } from "./bootstrap-token.ts";
import { parseTokenFile } from "./token-file.ts";

/**
 * Tests whether the time of a look-up reveals how much of a guess is right: Welch's t over interleaved samples, without
 * the slowest tenth, which is the machine's. A real difference appears in every attempt, while the noise of a busy
 * machine changes sides, so the smallest of a few attempts counts. The measurement runs in the process: a difference that
 * is invisible here is invisible over a network.
 */
const seed = Number(Bun.env["SEED"] ?? Date.now() % 2 ** 31);
const samplesMax = 5_000;
const lookupsPerSample = 16;
const attemptsMax = 30;
const tMax = 4.5;

const random = mulberry32(seed);
const replay = `replay: SEED=${seed} bun test src/access/authentication/timing.test.ts`;

function mulberry32(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns |t| of the times of the two guesses, made in random order. */
function welch(lookUp: (guess: string) => unknown, guesses: readonly [string, string]): number {
  const times: [number[], number[]] = [[], []];
  for (let at = 0; at < samplesMax; at++) {
    const which = random() < 0.5 ? 0 : 1;
    const guess = guesses[which];
    const start = Bun.nanoseconds();
    for (let again = 0; again < lookupsPerSample; again++) lookUp(guess);
    times[which].push(Bun.nanoseconds() - start);
  }
  const sorted = times.flat().sort((a, b) => a - b);
  const limit = sorted[Math.floor(sorted.length * 0.9)] as number;
  const [first, second] = times.map((list) => moments(list.filter((time) => time <= limit)));
  if (first === undefined || second === undefined) throw new Error("no samples");
  const spread = Math.sqrt(first.variance / first.count + second.variance / second.count);
  return Math.abs(first.mean - second.mean) / spread;
}

function moments(values: readonly number[]): { count: number; mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { count: values.length, mean, variance };
}

/** Creates a look-up for each attempt. With another key the guesses fall elsewhere, so one key alone proves nothing. */
type MakeLookUp = () => (guess: string) => unknown;

function smallestT(make: MakeLookUp, guesses: readonly [string, string]): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attemptsMax && smallest >= tMax; attempt++) {
    smallest = Math.min(smallest, welch(make(), guesses));
  }
  return smallest;
}

describe(`attack 23: the time of a rejection reveals nothing about the token (${replay})`, () => {
  const token = "k".repeat(64);
  const wrong = (at: number) => `${token.slice(0, at)}x${token.slice(at + 1)}`;
  const [early, late] = [wrong(0), wrong(token.length - 1)];

  test("static tokens are found by a keyed digest", () => {
    const make = () => parseTokenFile(`${token},jane,1\nother,joe,2\n`);
    const find = make();
    expect([find(token)?.name, find(early), find(late)]).toEqual(["jane", undefined, undefined]);
    expect(smallestT(make, [early, late])).toBeLessThan(tMax);
  });

  test("the number of users cannot be observed", () => {
    const many = Array.from({ length: 1_000 }, (_, at) => `token-${at},user-${at},${at}`).join("\n");
    expect(smallestT(() => parseTokenFile(many), ["token-99x", "nobodys-x"])).toBeLessThan(tMax);
  });

  test("secrets of bootstrap tokens are compared by their digests", () => {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const data = { "token-id": base64("abcdef"), "token-secret": base64("0123456789abcdef") };
    const secret = { type: "bootstrap.kubernetes.io/token", metadata: {}, data };
    const find = (guess: string) => bootstrapTokenUser(guess, () => secret, 0);
    expect(smallestT(() => find, ["abcdef.x123456789abcdef", "abcdef.0123456789abcdex"])).toBeLessThan(tMax);
  });

  test("a comparison byte by byte is detected", () => {
    const compare = (guess: string) => {
      for (let at = 0; at < token.length; at++) if (guess.charCodeAt(at) !== token.charCodeAt(at)) return false;
      return true;
    };
    expect(smallestT(() => compare, [early, late])).toBeGreaterThan(tMax);
  });
});
