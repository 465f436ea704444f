import type { Observed } from "../history/operation.ts";
import type { WatchEvent, WatchRecord } from "../history/watch-record.ts";
import type { Change, Chronicle } from "./chronicle.ts";
import type { Violation } from "./violation.ts";

type Told = Pick<WatchEvent, "type" | "object">;

/**
 * Checks that a watch reports every change that its filter selects, from its start to its end, without gaps or
 * repetitions, in order and with the right type. Its start may be another member's revision.
 */
export function watchLaw(records: readonly WatchRecord[], chronicle: Chronicle): Violation[] {
  return records.flatMap((record) => {
    const { watcher, member, from, until, color } = record;
    const name = `${watcher} at member ${member}, ${color ?? "all"} after ${from}`;
    if (!chronicle.covers(from, until)) {
      return [{ law: "watch", detail: `${name}: undecided: the history up to ${until} is not completely known` }];
    }
    const expected = chronicle.between(from, until).flatMap((change) => toldOf(change, color) ?? []);
    const problem = firstDifference(expected, record.events);
    return problem === undefined ? [] : [{ law: "watch", detail: `${name}: ${problem}` }];
  });
}

/**
 * Returns the event that a watch with this filter sends for a change, or undefined. An object that leaves the filter
 * has its previous state.
 */
function toldOf({ revision, object, previous }: Change, color: string | undefined): Told | undefined {
  const matches = (one: Observed | undefined) => one !== undefined && (color === undefined || one.color === color);
  if (object !== undefined && matches(object)) return { type: matches(previous) ? "MODIFIED" : "ADDED", object };
  if (previous === undefined || !matches(previous)) return undefined;
  return { type: "DELETED", object: { ...previous, revision } };
}

function firstDifference(expected: readonly Told[], events: readonly Told[]): string | undefined {
  for (let place = 0; place < Math.max(expected.length, events.length); place++) {
    const due = expected[place];
    const came = events[place];
    if (due !== undefined && came !== undefined && describe(due) === describe(came)) continue;
    return `event ${place} should be ${due === undefined ? "none" : describe(due)} and is ${came === undefined ? "none" : describe(came)}`;
  }
  return undefined;
}

function describe({ type, object: { key, revision, value, color, uid } }: Told): string {
  return `${type} ${key}=${value} ${color} at ${revision} (${uid})`;
}
