import type { Key } from "../../api/entry.ts";
import { cancellationOf } from "./cancelled-watch.ts";
import { EtcdError } from "./client/etcd-error.ts";
import type { WatchEvent, WatchResponse } from "./client/messages.ts";
import type { ReadEntry } from "./entry-reader.ts";
import { WatchBatches } from "./watch-batch.ts";

/** Maximum number of responses that wait for key services. Beyond it the watch starts again. */
const waitingResponsesMax = 10_000;

/** A decoded change. `read` is undefined for deletions and for keys that are not ours. */
export interface Change {
  readonly event: WatchEvent;
  readonly etcdKey: string;
  readonly key: Key | undefined;
  readonly read: ReadEntry | undefined;
}

/** Decodes responses in their order. Events that need no key service are applied in the turn of their arrival. */
export class ChangeReader {
  readonly #decode: (event: WatchEvent) => Change | Promise<Change>;
  readonly #apply: (changes: readonly Change[]) => void;
  readonly #end: (error: EtcdError) => void;
  readonly #batches = new WatchBatches();
  readonly #waiting: WatchResponse[] = [];
  #isRunning = false;
  #run = Promise.resolve();

  constructor(
    decode: (event: WatchEvent) => Change | Promise<Change>,
    apply: (changes: readonly Change[]) => void,
    end: (error: EtcdError) => void,
  ) {
    this.#decode = decode;
    this.#apply = apply;
    this.#end = end;
  }

  add(response: WatchResponse): void {
    if (response.canceled) return this.#end(cancellationOf(response));
    if (this.#waiting.length >= waitingResponsesMax) {
      return this.#end(new EtcdError("interrupted", "key services are too slow for the changes in etcd"));
    }
    this.#waiting.push(response);
    if (!this.#isRunning) this.#run = this.#applyWaiting();
  }

  /** Resolves when everything that has arrived is applied. */
  async idle(): Promise<void> {
    await this.#run;
  }

  async #applyWaiting(): Promise<void> {
    this.#isRunning = true;
    try {
      for (let response = this.#waiting.shift(); response !== undefined; response = this.#waiting.shift()) {
        const decoded = this.#batches.add(response).map((event) => this.#decode(event));
        const isDecoded = decoded.every((one) => !(one instanceof Promise));
        this.#apply(isDecoded ? (decoded as Change[]) : await Promise.all(decoded));
      }
    } finally {
      // In the same turn, so that a response that arrives now does not wait for another one.
      this.#isRunning = false;
    }
  }
}
