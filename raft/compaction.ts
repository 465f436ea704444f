import type { Index } from "./core/ids.ts";
import type { RawNode } from "./core/raw-node.ts";
import type { Log } from "./storage/log.ts";

const defaultLogBytesMax = 64 << 20;
const defaultTailEntries = 5000;

export interface CompactionOptions {
  readonly core: RawNode;
  readonly log: Log;
  /** Limits from `RaftNodeOptions`. */
  readonly logBytesMax: number | undefined;
  readonly tailEntries: number | undefined;
  readonly checkpoint: () => Promise<Index> | Index;
  /** Runs a task on the state machine after earlier tasks, and handles its failure. */
  readonly onState: (task: () => Promise<void>) => void;
  /** Returns the indexes of the snapshots being sent. Their receivers need the entries that follow. */
  readonly outgoingSnapshots: () => Iterable<Index>;
  readonly isStopped: () => boolean;
}

/** Removes the head of a large log once the state machine no longer needs it. */
export class Compaction {
  readonly #options: CompactionOptions;
  readonly #bytesMax: number;
  #aboveBytes: number;
  #isUnderWay = false;

  constructor(options: CompactionOptions) {
    this.#options = options;
    this.#bytesMax = options.logBytesMax ?? defaultLogBytesMax;
    this.#aboveBytes = this.#bytesMax;
  }

  whenLarge(): void {
    const { core, checkpoint, onState } = this.#options;
    if (this.#isUnderWay || core.log.bytes <= this.#aboveBytes) return;
    this.#isUnderWay = true;
    onState(async () => {
      try {
        await this.#compact(await checkpoint());
      } finally {
        this.#isUnderWay = false;
        // If little space was freed, the next attempt waits until the log has grown.
        this.#aboveBytes = Math.max(this.#bytesMax, core.log.bytes + this.#bytesMax / 8);
      }
    });
  }

  /**
   * Compacts the log. Keeps the entries that slow followers and receivers of snapshots need, unless there are too many of
   * them.
   */
  async #compact(durable: Index): Promise<void> {
    const { core, log, tailEntries, outgoingSnapshots, isStopped } = this.#options;
    const { base, bytes, lastIndex } = core.log;
    const tail = lastIndex - (tailEntries ?? defaultTailEntries);
    const wanted = Math.min(durable, tail, ...outgoingSnapshots());
    const index = (bytes > 2 * this.#bytesMax ? durable : wanted) as Index;
    if (index <= base.index || index > core.status().applied || isStopped()) return;
    const written = log.compact(core.snapshotMeta(index));
    core.compact(index);
    await written;
  }
}
