import { status } from "../api/status.ts";
import type { PreparedBatch, StateMachine } from "./state-machine.ts";
import { type ApplyResult, type Command, StoreUnavailableError } from "./store.ts";

/** Commands that may wait for their batch. Beyond it a write is refused with 429: it was not done, and may be retried. */
const queuedCommandsMax = 20_000;
const queuedBytesMax = 128 * 1024 * 1024;
/** One batch: enough that its sync costs each command almost nothing, little enough that the next one need not wait long. */
const batchCommandsMax = 1_000;
const batchBytesMax = 4 * 1024 * 1024;

export interface GroupCommitOptions {
  readonly state: StateMachine;
  /** Makes a batch durable; undefined when there is no disk. A rejection is final: nothing is acknowledged after it. */
  readonly write: ((batch: PreparedBatch) => Promise<void>) | undefined;
  /** Called when a batch became visible, before its writers are answered. */
  readonly publish: (batch: PreparedBatch) => void;
}

interface Waiting {
  readonly command: Command;
  readonly bytes: number;
  readonly resolve: (result: ApplyResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The one writer of a store. At most one batch is on its way to the disk; commands that arrive meanwhile form the next,
 * so the sync is shared. The order is the contract: decide, make durable, show, tell listeners, answer.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** Other writes, each of which has its turn between two batches. */
  readonly #errands: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #closed = false;
  #failure: StoreUnavailableError | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Set once a write failed; the store then never acknowledges again. */
  get failure(): StoreUnavailableError | undefined {
    return this.#failure;
  }

  /**
   * Resolves with the outcome once it is durable.
   * @throws StoreUnavailableError when the outcome is unknown or the store is closed; a 429 StatusError at the bound
   */
  add(command: Command): Promise<ApplyResult> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#closed) return Promise.reject(new StoreUnavailableError("the store is closed"));
    const bytes = commandBytes(command);
    if (this.#waiting.length >= queuedCommandsMax || this.#waitingBytes + bytes > queuedBytesMax) {
      return Promise.reject(status.tooManyRequests("the write queue of the store is full, please try again later", 1));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, bytes, resolve, reject });
      this.#waitingBytes += bytes;
      this.#start();
    });
  }

  /** Runs `errand` while no batch is being written. Its rejection poisons the store, as that of a batch does. */
  between(errand: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#errands.push(async () => {
        if (this.#failure !== undefined) return reject(this.#failure);
        try {
          await errand();
          resolve();
        } catch (error) {
          reject(this.#poison(error));
        }
      });
      this.#start();
    });
  }

  /** Refuses new commands and waits for those that were accepted. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running !== undefined) await this.#running;
  }

  #start(): void {
    if (this.#running !== undefined) return;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    // Commands of one turn share a batch.
    await undefined;
    while (this.#waiting.length > 0 || this.#errands.length > 0) {
      await this.#errands.shift()?.();
      if (this.#waiting.length > 0) await this.#writeGroup(this.#takeGroup());
    }
    // In the same turn as the last look at the queue: a command that comes later starts a new run.
    this.#running = undefined;
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    let batch: PreparedBatch;
    try {
      batch = this.#options.state.prepare(group.map(({ command }) => command));
    } catch (error) {
      // Ours, not the disk's: nothing was written, so these commands were not done and the store goes on.
      for (const { reject } of group) reject(error);
      return;
    }
    try {
      if (batch.events.length > 0 && this.#options.write !== undefined) await this.#options.write(batch);
      this.#finish(group, batch);
    } catch (error) {
      const failure = this.#poison(error);
      for (const { reject } of group) reject(failure);
    }
  }

  #finish(group: readonly Waiting[], batch: PreparedBatch): void {
    this.#options.state.commit(batch);
    if (batch.events.length > 0) this.#options.publish(batch);
    for (let at = 0; at < group.length; at++) {
      const { command, resolve, reject } = group[at] as Waiting;
      const result = batch.results[at];
      if (result !== undefined) resolve(result);
      else reject(new StoreUnavailableError(`command ${command.id} was applied before; its result is no longer known`));
    }
  }

  #takeGroup(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count === batchCommandsMax || (count > 0 && bytes + waiting.bytes > batchBytesMax)) break;
      bytes += waiting.bytes;
      count++;
    }
    this.#waitingBytes -= bytes;
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const group = this.#waiting;
    this.#waiting = [];
    return group;
  }

  #poison(error: unknown): StoreUnavailableError {
    if (this.#failure === undefined) {
      const why = error instanceof Error ? error.message : String(error);
      this.#failure = new StoreUnavailableError(`the store failed and takes no more writes: ${why}`);
      this.#failure.cause = error;
    }
    for (const { reject } of this.#waiting) reject(this.#failure);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return this.#failure;
  }
}

/** The size of what the command brings along: a superseded version is written beside it, which at most doubles it. */
function commandBytes({ key, operation }: Command): number {
  const body = operation.kind === "put" ? operation.body : operation.last;
  return key.length + body.prefix.byteLength + body.suffix.byteLength;
}
