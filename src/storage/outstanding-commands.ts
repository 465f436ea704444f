import { status } from "../api/status.ts";
import type { Command, StoreUnavailableError } from "./store.ts";

/** Maximum number of unanswered commands. Beyond it a write gets 429: it was not done and may be retried. */
const commandsMax = 20_000;
const bytesMax = 128 * 1024 * 1024;

/** The commands that a store has accepted and not answered. */
export class OutstandingCommands {
  #commands = 0;
  #bytes = 0;
  #failure: StoreUnavailableError | undefined;
  #idle: (() => void)[] = [];

  /**
   * Accepts a command. Returns its size, for `answered`.
   * @throws StoreUnavailableError after `close`; a 429 StatusError at the limit
   */
  accept(command: Command): number {
    if (this.#failure !== undefined) throw this.#failure;
    const bytes = sizeOf(command);
    if (this.#commands >= commandsMax || this.#bytes + bytes > bytesMax) {
      throw status.tooManyRequests("the write queue of the store is full, please try again later", 1);
    }
    this.#commands++;
    this.#bytes += bytes;
    return bytes;
  }

  answered(bytes: number): void {
    this.#commands--;
    this.#bytes -= bytes;
    if (this.#commands === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Accepts nothing more. */
  close(failure: StoreUnavailableError): void {
    this.#failure ??= failure;
  }

  /** Resolves when all accepted commands are answered. */
  async idle(): Promise<void> {
    if (this.#commands > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}

/** Returns the size of a command's key and body. */
function sizeOf({ key, operation }: Command): number {
  const body = operation.kind === "put" ? operation.body : operation.last;
  return key.length + body.prefix.byteLength + body.suffix.byteLength;
}
