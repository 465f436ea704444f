import type { StoreEvent } from "../store.ts";
import { type Facet, type FacetReader, facetReader, type Pin } from "./facet.ts";
import type { Task } from "./watch-scheduler.ts";

/** Maximum number of facets that parked watchers wait for. Watchers of others look at every event. */
const facetsMax = 64;

/** A watcher that has nothing to send, and waits for an event that its pin allows. */
export interface ParkableWatcher extends Task {
  readonly pin: Pin;
  /** Called with the first such event. The watcher is not parked any more. */
  resume(event: StoreEvent, position: number): void;
}

interface Waiting {
  readonly valueOf: FacetReader;
  readonly byValue: Map<string, Set<ParkableWatcher>>;
}

/**
 * The watchers of one resource that wait for certain objects, found by the values of an event. So an event costs as much
 * as the number of watchers that it concerns.
 */
export class ParkedWatchers {
  readonly #facets = new Map<Facet, Waiting>();

  /** Returns false if the watcher cannot wait here. */
  park(watcher: ParkableWatcher): boolean {
    const { facet, values } = watcher.pin;
    const waiting = this.#facets.get(facet) ?? this.#add(facet);
    if (waiting === undefined) return false;
    for (const value of values) {
      const watchers = waiting.byValue.get(value);
      if (watchers === undefined) waiting.byValue.set(value, new Set([watcher]));
      else watchers.add(watcher);
    }
    return true;
  }

  remove(watcher: ParkableWatcher): void {
    const { facet, values } = watcher.pin;
    const waiting = this.#facets.get(facet);
    if (waiting === undefined) return;
    for (const value of values) {
      const watchers = waiting.byValue.get(value);
      watchers?.delete(watcher);
      if (watchers?.size === 0) waiting.byValue.delete(value);
    }
    if (waiting.byValue.size === 0) this.#facets.delete(facet);
  }

  /** Resumes the watchers that the event may concern: by the values of the object before and after it. */
  receive(event: StoreEvent, position: number): void {
    for (const waiting of this.#facets.values()) {
      const after = waiting.valueOf(event.entry);
      const before = event.previous === undefined ? after : waiting.valueOf(event.previous);
      this.#resume(waiting, after, event, position);
      if (before !== after) this.#resume(waiting, before, event, position);
    }
  }

  #resume({ byValue }: Waiting, value: string | undefined, event: StoreEvent, position: number): void {
    const watchers = value === undefined ? undefined : byValue.get(value);
    for (const watcher of watchers === undefined ? [] : [...watchers]) {
      this.remove(watcher);
      watcher.resume(event, position);
    }
  }

  #add(facet: Facet): Waiting | undefined {
    if (this.#facets.size >= facetsMax) return undefined;
    const waiting = { valueOf: facetReader(facet), byValue: new Map() };
    this.#facets.set(facet, waiting);
    return waiting;
  }
}
