import { numberOf, type WatchEvent, type WatchResponse } from "./client/messages.ts";

/** Joins responses that etcd has split, so that the events of a revision stay together. */
export class WatchBatches {
  #held: readonly WatchEvent[] = [];

  /** Returns the events that are complete. */
  add({ events, fragment }: WatchResponse): readonly WatchEvent[] {
    const all = this.#held.length === 0 ? events : [...this.#held, ...events];
    const last = all.at(-1);
    if (!fragment || last === undefined) {
      this.#held = [];
      return all;
    }
    // More events of the last revision may follow.
    const open = all.findIndex((event) => revisionOf(event) === revisionOf(last));
    this.#held = all.slice(open);
    return all.slice(0, open);
  }
}

export function revisionOf({ kv }: WatchEvent): number {
  return numberOf(kv.modRevision);
}
