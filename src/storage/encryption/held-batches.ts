import type { Entry, Key } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { compareKeys } from "../key-order.ts";
import type { StoreEvent } from "../store.ts";

/** A batch of another store, as its listeners get it. */
export interface Batch {
  readonly events: readonly StoreEvent[];
  readonly revision: Revision;
  readonly jumped: boolean;
}

/**
 * Batches that the inner store has applied and readers do not see yet, oldest first. It turns the state after all of
 * them into the state before the first.
 */
export class HeldBatches {
  readonly #batches: Batch[] = [];
  /** The held events of each key, oldest first. */
  readonly #events = new Map<Key, StoreEvent[]>();

  get size(): number {
    return this.#batches.length;
  }

  get first(): Batch | undefined {
    return this.#batches[0];
  }

  add(batch: Batch): void {
    this.#batches.push(batch);
    for (const event of batch.events) {
      const { key } = event.entry;
      const events = this.#events.get(key);
      if (events === undefined) this.#events.set(key, [event]);
      else events.push(event);
    }
  }

  /** Shows the first batch to readers. */
  release(): void {
    const batch = this.#batches.shift();
    if (batch === undefined) return;
    for (const { entry } of batch.events) {
      const events = this.#events.get(entry.key);
      events?.shift();
      if (events?.length === 0) this.#events.delete(entry.key);
    }
  }

  /** @param newest the entry after all batches */
  get(key: Key, newest: Entry | undefined): Entry | undefined {
    const [event] = this.#events.get(key) ?? [];
    return event === undefined ? newest : event.previous;
  }

  /** @param newest the entries below `prefix` after all batches, in key order */
  scan(prefix: Key, newest: readonly Entry[]): Entry[] {
    const unchanged = newest.filter(({ key }) => !this.#events.has(key));
    const changed: Entry[] = [];
    for (const [key, [event]] of this.#events) {
      if (key.startsWith(prefix) && event?.previous !== undefined) changed.push(event.previous);
    }
    return [...unchanged, ...changed].sort((a, b) => compareKeys(a.key, b.key));
  }
}
