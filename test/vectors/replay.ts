import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { JsonObject } from "../../src/api/json.ts";

/** A format of recorded cases. It reads the other files of a directory, and returns the function that replays a case. */
export type Format = (directory: string) => Replay | Promise<Replay>;
/** Returns the difference of a case; undefined if there is none. */
type Outcome = string | undefined | typeof leftToChance;
export type Replay = (recorded: JsonObject) => Outcome | Promise<Outcome>;

/** The outcome of a case for which the reference's own answers vary. */
export const leftToChance = Symbol("left to chance");

/** Returns the cases of one file, which has one per line. */
export function* readCases(path: string): Generator<JsonObject> {
  for (const line of gunzipSync(readFileSync(path)).toString().split("\n")) {
    if (line !== "") yield JSON.parse(line) as JsonObject;
  }
}
