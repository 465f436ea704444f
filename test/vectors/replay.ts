import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { JsonObject } from "../../src/api/json.ts";

/** A format of recorded cases: reads what a directory has besides them, and gives the function that replays one. */
export type Format = (directory: string) => Replay | Promise<Replay>;
/** Says how a case came out differently; undefined when it came out the same. */
type Outcome = string | undefined | typeof leftToChance;
export type Replay = (recorded: JsonObject) => Outcome | Promise<Outcome>;

/** The outcome of a case for which the reference itself gives now one answer, now another. */
export const leftToChance = Symbol("left to chance");

/** The cases of one file, which has one on each line. */
export function* readCases(path: string): Generator<JsonObject> {
  for (const line of gunzipSync(readFileSync(path)).toString().split("\n")) {
    if (line !== "") yield JSON.parse(line) as JsonObject;
  }
}
