import type { Index } from "./core/ids.ts";
import type { RawNode } from "./core/raw-node.ts";
import type { Log } from "./storage/log.ts";

const defaultLogBytesMax = 64 << 20;
const defaultTailEntries = 5000;

export interface CompactionOptions {
  readonly core: RawNode;
  readonly log: Log;
  /** See `RaftNodeOptions`. */
  readonly logBytesMax: number | undefined;
  readonly tailEntries: number | undefined;
  readonly checkpoint: () => Promise<Index> | Index;
  /** Runs a task on the state machine, after those before it, and takes care of its failure. */
  readonly onState: (task: () => Promise<void>) => void;
  /** Of the states that other members are being sent: they will want what follows. */
  readonly outgoingSnapshots: () => Iterable<Index>;
  readonly isStopped: () => boolean;
}

/** Forgets the head of a log that has become large, as soon as the state machine can do without it. */
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
        // When little came free, the next attempt waits for the log to grow.
        this.#aboveBytes = Math.max(this.#bytesMax, core.log.bytes + this.#bytesMax / 8);
      }
    });
  }

  /** Keeps what slow followers and receivers of snapshots will need, unless that alone is too much. */
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
