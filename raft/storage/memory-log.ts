import type { Entry } from "../core/entry.ts";
import { noMember } from "../core/ids.ts";
import type { HardState } from "../core/ready.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";
import type { Log, LogContents, LogWrite } from "./log.ts";
import { LogError } from "./log-error.ts";

/** The log of a member that stores nothing: for tests, and for clusters that may be lost completely. */
export class MemoryLog implements Log {
  readonly recovered: LogContents;
  #hardState: HardState;
  #base: SnapshotMeta;
  #entries: Entry[];
  #expected: SnapshotMeta | undefined;
  #closed = false;

  constructor(recovered: LogContents) {
    this.recovered = recovered;
    this.#hardState = recovered.hardState;
    this.#base = recovered.base;
    this.#entries = [...recovered.entries];
    this.#expected = recovered.expected;
  }

  /** Creates a log like `createLog` does on disk. */
  static create(base: SnapshotMeta): MemoryLog {
    return new MemoryLog({ hardState: { term: base.term, vote: noMember, commit: base.index }, base, entries: [] });
  }

  /** Returns the log as a process that starts after this one would find it. */
  reopen(): MemoryLog {
    const expected = this.#expected;
    return new MemoryLog({
      hardState: this.#hardState,
      base: this.#base,
      entries: [...this.#entries],
      ...(expected !== undefined && { expected }),
    });
  }

  async append({ expected, snapshot, hardState, entries }: LogWrite): Promise<void> {
    this.#checkOpen();
    this.#expected = expected ?? this.#expected;
    if (snapshot !== undefined) {
      this.#base = snapshot;
      this.#entries = [];
    }
    this.#hardState = hardState ?? this.#hardState;
    const [first] = entries;
    if (first === undefined) return;
    this.#entries.length = Math.max(0, Math.min(this.#entries.length, first.index - this.#base.index - 1));
    this.#entries.push(...entries);
  }

  async compact(base: SnapshotMeta): Promise<void> {
    this.#checkOpen();
    this.#entries = this.#entries.slice(Math.max(0, base.index - this.#base.index));
    this.#base = base;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #checkOpen(): void {
    if (this.#closed) throw new LogError("poisoned", "the log is closed", "open it again", { directory: "(memory)" });
  }
}
