import { Slots } from "../../process/slots.ts";
import { OutstandingCommands } from "../outstanding-commands.ts";
import type { Command, StoreUnavailableError } from "../store.ts";

/** Maximum number of transactions on their way. Further writes wait here, where their time does not run. */
const transactionsMax = 256;

/** Limits the writes that wait for etcd. */
export class WriteGate {
  readonly #outstanding = new OutstandingCommands();
  readonly #transactions = new Slots(transactionsMax);

  /**
   * Runs a write when it is its turn.
   * @throws StoreUnavailableError when the gate is closed; a 429 StatusError at the limit
   */
  async run<T>(command: Command, write: () => Promise<T>): Promise<T> {
    const bytes = this.#outstanding.accept(command);
    try {
      return await this.#transactions.run(write);
    } finally {
      this.#outstanding.answered(bytes);
    }
  }

  /** Stops accepting writes. Accepted ones are still done. */
  close(failure: StoreUnavailableError): void {
    this.#outstanding.close(failure);
  }

  /** Resolves when all accepted writes are answered. */
  idle(): Promise<void> {
    return this.#outstanding.idle();
  }
}
