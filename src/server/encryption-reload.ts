import type { Clock } from "../process/clock.ts";
import { thrownText } from "../process/thrown-text.ts";
import type { UsedEncryption } from "./used-encryption.ts";

/** Least time that key services have to become healthy. */
const healthyMsMin = 10_000;
const checkIntervalMs = 100;
/** Time after which a file is tried again whose key services were not healthy. */
const retryMs = 10_000;

export interface EncryptionReloadOptions {
  readonly clock: Clock;
  /** Opens a configuration. */
  open(bytes: Uint8Array): Promise<UsedEncryption>;
  /** Takes over an open configuration. */
  onUsed(configuration: UsedEncryption): void;
  onError(error: unknown): void;
}

/** Uses the newest content of a configuration file, once its key services are healthy. */
export class EncryptionReload implements Disposable {
  readonly #options: EncryptionReloadOptions;
  #newest: Uint8Array | undefined;
  #isRunning = false;
  #retry: Disposable | undefined;
  #isClosed = false;

  constructor(options: EncryptionReloadOptions) {
    this.#options = options;
  }

  change(bytes: Uint8Array): void {
    this.#newest = bytes;
    this.#retry?.[Symbol.dispose]();
    if (!this.#isRunning) void this.#run();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#retry?.[Symbol.dispose]();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let bytes = this.#newest; bytes !== undefined && !this.#isClosed; bytes = this.#newest) {
      this.#newest = undefined;
      await this.#use(bytes);
    }
    this.#isRunning = false;
  }

  async #use(bytes: Uint8Array): Promise<void> {
    const { clock, open, onUsed, onError } = this.#options;
    using parts = new DisposableStack();
    try {
      const opened = parts.use(await open(bytes));
      const problem = await this.#problemOf(opened);
      if (this.#isClosed || this.#newest !== undefined) return;
      if (problem === undefined) {
        onUsed(opened);
        parts.move();
        return;
      }
      this.#retry = clock.after(retryMs, () => this.change(bytes));
      const reason = `polling error timed out waiting for the condition: ${problem}`;
      onError(new Error(`health check for new transformers failed, ${reason}`));
    } catch (error) {
      onError(error);
    }
  }

  /** Waits until all key services are healthy. Returns a problem that is left when the time is over. */
  async #problemOf({ keyServices }: UsedEncryption): Promise<string | undefined> {
    if (keyServices === undefined) return undefined;
    const { clock } = this.#options;
    const untilMs = clock.steadyMs() + Math.max(healthyMsMin, keyServices.graceMs);
    for (;;) {
      try {
        await keyServices.check();
        return undefined;
      } catch (error) {
        const isOver = clock.steadyMs() >= untilMs || this.#isClosed || this.#newest !== undefined;
        if (isOver) return thrownText(error);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.after(checkIntervalMs, resolve);
      await promise;
    }
  }
}
