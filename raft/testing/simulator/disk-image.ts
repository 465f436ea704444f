import { assert } from "../../core/assert.ts";
import { decodeConfEntry } from "../../core/conf-entry.ts";
import type { Entry } from "../../core/entry.ts";
import type { Index, Term } from "../../core/ids.ts";
import type { Membership } from "../../core/membership.ts";
import type { InitialState } from "../../core/options.ts";
import type { HardState, Write } from "../../core/ready.ts";
import type { SnapshotMeta } from "../../core/snapshot.ts";
import type { Machine } from "./machine.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** A durable state and its description. */
export interface Checkpoint {
  readonly meta: SnapshotMeta;
  readonly state: Machine;
}

/** The data of one member that survives a crash. */
export class DiskImage {
  hardState: HardState;
  base: SnapshotMeta;
  entries: Entry[] = [];
  checkpoint: Checkpoint;
  /** Whether a start refuses it, because of damage that it notices. */
  isRefused = false;

  constructor(hardState: HardState, checkpoint: Checkpoint) {
    this.hardState = hardState;
    this.base = checkpoint.meta;
    this.checkpoint = checkpoint;
  }

  get lastIndex(): Index {
    return (this.base.index + this.entries.length) as Index;
  }

  termAt(index: Index): Term | undefined {
    return index === this.base.index ? this.base.term : this.entries[index - this.base.index - 1]?.term;
  }

  /** Executes a whole write. `received` is the snapshot that it installs. */
  write(write: Write, received: Checkpoint | undefined): void {
    if (received !== undefined) {
      this.checkpoint = received;
      this.#resetLog(received.meta);
    }
    this.#append(write.entries);
    if (write.hardState !== undefined) this.hardState = write.hardState;
  }

  /** Executes part of a write, as a crash may: some of its entries, or a state that is newer than the log. */
  tear(write: Write, received: Checkpoint | undefined, entriesKept: number): void {
    if (received !== undefined) this.checkpoint = received;
    else this.#append(write.entries.slice(0, entriesKept));
  }

  /**
   * Loses the last entries, as a disk that acknowledged them too early does, but never entries that the state already
   * has.
   */
  forget(entries: number): void {
    const kept = Math.max(this.checkpoint.meta.index, this.lastIndex - entries) as Index;
    this.entries.length = Math.max(0, kept - this.base.index);
    this.hardState = { ...this.hardState, commit: Math.min(this.hardState.commit, this.lastIndex) as Index };
  }

  compact(base: SnapshotMeta): void {
    if (base.index <= this.base.index) return;
    assert(base.index <= this.checkpoint.meta.index, () => "the log would forget what no checkpoint holds");
    this.entries.splice(0, base.index - this.base.index);
    this.base = base;
  }

  /** Returns the contents at a start, after finishing an interrupted installation. */
  recover(): InitialState {
    const { meta } = this.checkpoint;
    if (this.termAt(meta.index) !== meta.term) this.#resetLog(meta);
    return { hardState: this.hardState, base: this.base, entries: [...this.entries], applied: meta.index };
  }

  /** Whether any of it is damaged. */
  get isDamaged(): boolean {
    return this.isRefused || this.checkpoint.state.isDamaged === true;
  }

  /** Damages the state. */
  damage(random: SeededRandom): void {
    const { meta, state } = this.checkpoint;
    const damaged = state.damaged?.(random);
    if (damaged === undefined) this.isRefused = true;
    else this.checkpoint = { meta, state: damaged };
  }

  /** Returns all memberships that could come into force at a start. */
  memberships(): Membership[] {
    const changes = this.entries.filter(({ kind }) => kind === "confChange");
    const logged = changes.map(({ data }) => decodeConfEntry(data).membership);
    return [this.base.membership, this.checkpoint.meta.membership, ...logged];
  }

  #resetLog(base: SnapshotMeta): void {
    this.base = base;
    this.entries = [];
  }

  #append(entries: readonly Entry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    assert(first.index > this.base.index && first.index <= this.lastIndex + 1, () => `a gap on disk at ${first.index}`);
    this.entries.length = first.index - this.base.index - 1;
    for (const entry of entries) this.entries.push(entry);
  }
}
