import type { Observed, Operation, Outcome, Request } from "../history/operation.ts";
import type { WatchEvent, WatchRecord } from "../history/watch-record.ts";

/** Returns an object for a test history. A value's first letter is the color. */
export function object(key: string, value: string, revision: number, uid = `uid-${key}`): Observed {
  return { key, uid, revision, value, color: value.slice(0, 1) };
}

type EventText = readonly [type: "ADDED" | "MODIFIED" | "DELETED", key: string, value: string, revision: number];

/** Returns a record whose events are seen at the time of their revision. */
export function record(
  from: number,
  until: number,
  events: readonly EventText[],
  change: Partial<WatchRecord> = {},
): WatchRecord {
  const seen = events.map(
    ([type, key, value, revision]): WatchEvent => ({ type, object: object(key, value, revision), seenMs: revision }),
  );
  return { watcher: "i", member: 1, color: undefined, from, until, events: seen, ...change };
}

export function operation(
  key: string,
  request: Request,
  outcome: Outcome,
  [invokedMs, returnedMs]: readonly [number, number],
): Operation {
  return { client: "c", member: 1, key, request, outcome, invokedMs, returnedMs };
}

export function create(key: string, value: string, outcome: Outcome, times: readonly [number, number]): Operation {
  return operation(key, { verb: "create", value, color: value.slice(0, 1) }, outcome, times);
}

export function ok(key: string, value: string, revision: number): Outcome {
  return { kind: "ok", object: object(key, value, revision) };
}

export const unknown: Outcome = { kind: "unknown", why: "cut" };

/** A watch of x red, x green, y red, x deleted: revisions 11 to 14. */
export const story = record(10, 14, [
  ["ADDED", "x", "r1", 11],
  ["MODIFIED", "x", "g2", 12],
  ["ADDED", "y", "r3", 13],
  ["DELETED", "x", "g2", 14],
]);
