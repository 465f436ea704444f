import { status } from "../api/status.ts";
import { type ApplyResult, type Command, StoreUnavailableError } from "./store.ts";

/** Maximum number of unanswered commands. Beyond it a write gets 429: it was not done and may be retried. */
export const outstandingCommandsMax = 20_000;
export const outstandingBytesMax = 128 * 1024 * 1024;
/**
 * Maximum number of commands in one batch: large enough that the cost of the batch itself is small, and small enough for
 * one proposal.
 */
const batchCommandsMax = 1_000;
const batchBytesMax = 4 * 1024 * 1024;

/** Executes one batch, and returns one result per command, in order. */
type Submit = (commands: readonly Command[]) => readonly ApplyResult[] | Promise<readonly ApplyResult[]>;

interface Waiting {
  readonly command: Command;
  readonly bytes: number;
  readonly resolve: (result: ApplyResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects commands into batches. Commands of one turn of the event loop form one batch. If no batch is outstanding, the
 * first command is submitted at once.
 */
export class CommandQueue {
  readonly #submit: Submit;
  readonly #defer: (run: () => void) => void;
  #waiting: Waiting[] = [];
  #outstanding = 0;
  #outstandingBytes = 0;
  #underWay = 0;
  #scheduled = false;
  #failure: StoreUnavailableError | undefined;
  #idle: (() => void)[] = [];

  /** @param defer runs a function in the next turn of the event loop */
  constructor(submit: Submit, defer: (run: () => void) => void = setImmediate) {
    this.#submit = submit;
    this.#defer = defer;
  }

  /**
   * Resolves with the command's outcome.
   * @throws StoreUnavailableError when the outcome is unknown or the queue is closed; a 429 StatusError at the limit
   */
  add(command: Command): Promise<ApplyResult> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const bytes = commandBytes(command);
    if (this.#outstanding >= outstandingCommandsMax || this.#outstandingBytes + bytes > outstandingBytesMax) {
      return Promise.reject(status.tooManyRequests("the write queue of the store is full, please try again later", 1));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, bytes, resolve, reject });
      this.#outstanding++;
      this.#outstandingBytes += bytes;
      this.#schedule();
    });
  }

  /** Stops accepting commands. Accepted commands are still executed. */
  close(failure: StoreUnavailableError): void {
    this.#failure ??= failure;
  }

  /** Resolves when all accepted commands are answered. */
  async idle(): Promise<void> {
    if (this.#outstanding > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (this.#underWay === 0) queueMicrotask(() => this.#send());
    else this.#defer(() => this.#send());
  }

  #send(): void {
    this.#scheduled = false;
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      this.#underWay++;
      this.#submitGroup(group);
    }
  }

  #submitGroup(group: readonly Waiting[]): void {
    const fail = (error: unknown): void => {
      this.#done(group);
      for (const { reject } of group) reject(error);
    };
    let results: ReturnType<Submit>;
    try {
      results = this.#submit(group.map(({ command }) => command));
    } catch (error) {
      return fail(error);
    }
    if (results instanceof Promise) results.then((results) => this.#answer(group, results), fail);
    else this.#answer(group, results);
  }

  #answer(group: readonly Waiting[], results: readonly ApplyResult[]): void {
    this.#done(group);
    group.forEach(({ resolve }, position) => resolve(results[position] as ApplyResult));
  }

  #done(group: readonly Waiting[]): void {
    this.#underWay--;
    this.#outstanding -= group.length;
    for (const { bytes } of group) this.#outstandingBytes -= bytes;
    if (this.#outstanding === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #takeGroup(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count === batchCommandsMax || (count > 0 && bytes + waiting.bytes > batchBytesMax)) break;
      bytes += waiting.bytes;
      count++;
    }
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const group = this.#waiting;
    this.#waiting = [];
    return group;
  }
}

/** Returns the size of a command's key and body. */
export function commandBytes({ key, operation }: Command): number {
  const body = operation.kind === "put" ? operation.body : operation.last;
  return key.length + body.prefix.byteLength + body.suffix.byteLength;
}
