import { status } from "../../api/status.ts";
import { commandBytes, outstandingBytesMax, outstandingCommandsMax } from "../command-queue.ts";
import type { Command, StoreUnavailableError } from "../store.ts";

/** Maximum number of transactions on their way. Further writes wait here, where their time does not run. */
const transactionsMax = 256;

/** Limits the writes that wait for etcd. */
export class WriteGate {
  #outstanding = 0;
  #outstandingBytes = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #idle: (() => void)[] = [];
  #failure: StoreUnavailableError | undefined;

  /**
   * Runs a write when it is its turn.
   * @throws StoreUnavailableError when the gate is closed; a 429 StatusError at the limit
   */
  async run<T>(command: Command, write: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    const bytes = commandBytes(command);
    if (this.#outstanding >= outstandingCommandsMax || this.#outstandingBytes + bytes > outstandingBytesMax) {
      throw status.tooManyRequests("the write queue of the store is full, please try again later", 1);
    }
    this.#outstanding++;
    this.#outstandingBytes += bytes;
    try {
      if (this.#running >= transactionsMax) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      else this.#running++;
      try {
        return await write();
      } finally {
        // The next write takes over the place.
        const next = this.#waiting.shift();
        if (next === undefined) this.#running--;
        else next();
      }
    } finally {
      this.#outstanding--;
      this.#outstandingBytes -= bytes;
      if (this.#outstanding === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Stops accepting writes. Accepted ones are still done. */
  close(failure: StoreUnavailableError): void {
    this.#failure ??= failure;
  }

  /** Resolves when all accepted writes are answered. */
  async idle(): Promise<void> {
    if (this.#outstanding > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
