import { compareKeys } from "./key-order.ts";
import type { StateMachine } from "./state-machine.ts";
import type { StoreEvent } from "./store.ts";

type State = Pick<StateMachine, "entries" | "get" | "revision">;

/** Returns the changes from one state to another, in key order. Intermediate changes are merged. */
export function differences(from: State, to: State): StoreEvent[] {
  const events: StoreEvent[] = [];
  for (const entry of to.entries()) {
    const previous = from.get(entry.key);
    if (previous?.revision === entry.revision) continue;
    events.push({ revision: entry.revision, type: previous === undefined ? "ADDED" : "MODIFIED", entry, previous });
  }
  for (const previous of from.entries()) {
    if (to.get(previous.key) !== undefined) continue;
    events.push({ revision: to.revision, type: "DELETED", entry: previous, previous });
  }
  return events.sort((a, b) => compareKeys(a.entry.key, b.entry.key));
}
