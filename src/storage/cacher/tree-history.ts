import { type Revision, toRevision } from "../../api/revision.ts";
import type { StoreEvent } from "../store.ts";
import type { EventWindow } from "./event-window.ts";
import type { CacherLimits } from "./limits.ts";
import type { EntryTree } from "./tree.ts";

/** A tree that held the state at every revision from `from` to `to`. */
interface Snapshot {
  readonly from: Revision;
  /** The last revision with this state; undefined if the state has not changed since. */
  to: Revision | undefined;
  readonly tree: EntryTree;
  usedMs: number;
}

/** Past states of one resource. States that served a page are kept; others are rebuilt from the event window. */
export class TreeHistory {
  readonly #limits: CacherLimits;
  readonly #window: EventWindow;
  /** Least recently used first. */
  readonly #snapshots: Snapshot[] = [];

  constructor(limits: CacherLimits, window: EventWindow) {
    this.#limits = limits;
    this.#window = window;
  }

  get size(): number {
    return this.#snapshots.length;
  }

  /** Closes the open snapshot. Call it before `event` changes the live tree. */
  beforeChange(event: StoreEvent): void {
    for (const snapshot of this.#snapshots) snapshot.to ??= toRevision(event.revision - 1);
  }

  /** Keeps a copy of the live tree, unchanged since `changed`, and returns it. */
  keep(live: EntryTree, changed: Revision, nowMs: number): EntryTree {
    const open = this.#snapshots.find(({ to }) => to === undefined);
    if (open !== undefined) return this.#use(open, nowMs);
    return this.#add({ from: changed, to: undefined, tree: live.clone(), usedMs: nowMs }, nowMs);
  }

  /**
   * Returns the state at `revision`, which precedes the live tree's last change. Returns undefined if only the store has
   * it.
   */
  at(revision: Revision, live: EntryTree, nowMs: number): EntryTree | undefined {
    const kept = this.#snapshots.find(({ from, to }) => from <= revision && (to === undefined || revision <= to));
    if (kept !== undefined) return this.#use(kept, nowMs);
    const position = this.#window.positionAfter(revision);
    if (position === undefined || this.#window.end - position > this.#limits.undoEventsMax) return undefined;
    return this.#rebuild(position, live, nowMs);
  }

  /** Drops snapshots that have not been used recently. */
  trim(nowMs: number): void {
    for (let at = this.#snapshots.length - 1; at >= 0; at--) {
      const snapshot = this.#snapshots[at] as Snapshot;
      if (nowMs - snapshot.usedMs > this.#limits.snapshotAgeMs) this.#snapshots.splice(at, 1);
    }
  }

  /** Undoes the events from `position` on, newest first. */
  #rebuild(position: number, live: EntryTree, nowMs: number): EntryTree {
    const tree = live.clone();
    for (let at = this.#window.end - 1; at >= position; at--) {
      const { entry, previous } = this.#window.at(at).event;
      if (previous === undefined) tree.delete(entry.key);
      else tree.set(previous.key, previous);
    }
    const from = position > this.#window.first ? this.#revisionAt(position - 1) : this.#window.droppedRevision;
    const to = position < this.#window.end ? toRevision(this.#revisionAt(position) - 1) : undefined;
    return this.#add({ from, to, tree, usedMs: nowMs }, nowMs);
  }

  #revisionAt(position: number): Revision {
    return this.#window.at(position).event.revision;
  }

  #add(snapshot: Snapshot, nowMs: number): EntryTree {
    this.trim(nowMs);
    if (this.#snapshots.length >= this.#limits.snapshotsMax) this.#snapshots.shift();
    this.#snapshots.push(snapshot);
    return snapshot.tree;
  }

  #use(snapshot: Snapshot, nowMs: number): EntryTree {
    snapshot.usedMs = nowMs;
    this.#snapshots.splice(this.#snapshots.indexOf(snapshot), 1);
    this.#snapshots.push(snapshot);
    return snapshot.tree;
  }
}
