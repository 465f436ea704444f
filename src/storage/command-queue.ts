import { OutstandingCommands } from "./outstanding-commands.ts";
import type { ApplyResult, Command, StoreUnavailableError } from "./store.ts";

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
  readonly #outstanding = new OutstandingCommands();
  #waiting: Waiting[] = [];
  #underWay = 0;
  #scheduled = false;

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
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, bytes: this.#outstanding.accept(command), resolve, reject });
      this.#schedule();
    });
  }

  /** Stops accepting commands. Accepted commands are still executed. */
  close(failure: StoreUnavailableError): void {
    this.#outstanding.close(failure);
  }

  /** Resolves when all accepted commands are answered. */
  idle(): Promise<void> {
    return this.#outstanding.idle();
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
    for (const { bytes } of group) this.#outstanding.answered(bytes);
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
