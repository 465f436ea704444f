import type { JsonEndpoint } from "../../client/json-endpoint.ts";
import type { Clock } from "../../process/clock.ts";
import type { TruncationOptions } from "./audit-options.ts";
import type { TextBackend } from "./backend.ts";

const triesMax = 5;
const backoffFactor = 1.5;
/** Timeout of one request, long enough for a slow receiver. */
const requestTimeoutMs = 30_000;

export interface WebhookBackendOptions {
  readonly endpoint: JsonEndpoint;
  readonly clock: Clock;
  /** `batch` sends in the background, `blocking` makes the request wait, and `blocking-strict` also fails it. */
  readonly mode: "batch" | "blocking" | "blocking-strict";
  /** Maximum number of waiting events. Further events are dropped and counted. */
  readonly bufferSize: number;
  readonly batchSizeMax: number;
  /** Limits; at most `batchBytesMax` are sent at once. */
  readonly truncation: TruncationOptions | undefined;
  readonly batchWaitMs: number;
  readonly initialBackoffMs: number;
  /** Average requests per second, and the burst after a pause. */
  readonly throttleQps: number;
  readonly throttleBurst: number;
  /** Counts events that did not fit or could not be delivered. */
  readonly lost: { value: number };
  /** Receives failed batches and the first of consecutive events that did not fit. */
  onError(error: unknown): void;
}

/** Sends events to a webhook in batches. A slow receiver loses events, but never delays requests. */
export class WebhookBackend implements TextBackend {
  readonly #options: WebhookBackendOptions;
  readonly #waiting: string[] = [];
  #timer: Disposable | undefined;
  #sending: Promise<void> | undefined;
  #full = false;
  #closed = false;
  /** Ends a pause early. */
  #resume: (() => void) | undefined;
  /** Number of requests that the throttle allows now. */
  #allowance: number;
  #allowanceMs: number;

  constructor(options: WebhookBackendOptions) {
    this.#options = options;
    this.#allowance = options.throttleBurst;
    this.#allowanceMs = options.clock.steadyMs();
  }

  write(event: string): void | Promise<void> {
    const { mode, bufferSize, batchSizeMax, batchWaitMs, clock, onError } = this.#options;
    if (mode !== "batch") return this.#deliverNow(event);
    if (this.#waiting.length >= bufferSize) {
      this.#options.lost.value++;
      if (!this.#full) onError(new Error("audit events are dropped: the webhook does not keep up"));
      this.#full = true;
      return undefined;
    }
    this.#waiting.push(event);
    if (this.#waiting.length >= batchSizeMax) this.#send();
    else this.#timer ??= clock.after(batchWaitMs, () => this.#send());
    return undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#resume?.();
    this.#send();
    await this.#sending;
  }

  async #deliverNow(event: string): Promise<void> {
    try {
      await this.#post([event]);
    } catch (error) {
      this.#options.lost.value++;
      this.#options.onError(error);
      if (this.#options.mode === "blocking-strict") throw error;
    }
  }

  #send(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#batchLength());
      this.#full = false;
      try {
        await this.#deliver(batch);
      } catch (error) {
        this.#options.lost.value += batch.length;
        this.#options.onError(error);
      }
    }
  }

  /** Returns the number of events for the next request, at least one. */
  #batchLength(): number {
    const { batchSizeMax, truncation } = this.#options;
    if (truncation === undefined) return batchSizeMax;
    let bytes = 0;
    let length = 0;
    while (length < Math.min(batchSizeMax, this.#waiting.length)) {
      bytes += Buffer.byteLength(this.#waiting[length] as string);
      if (bytes > truncation.batchBytesMax) break;
      length++;
    }
    return Math.max(1, length);
  }

  async #deliver(batch: readonly string[]): Promise<void> {
    let backoffMs = this.#options.initialBackoffMs;
    for (let tries = 1; ; tries++) {
      await this.#throttle();
      try {
        return await this.#post(batch);
      } catch (error) {
        // There is no time for retries while closing.
        if (tries === triesMax || this.#closed) throw error;
      }
      await this.#pause(backoffMs);
      backoffMs *= backoffFactor;
    }
  }

  async #post(batch: readonly string[]): Promise<void> {
    const body = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${batch.join(",")}]}`;
    const { code } = await this.#options.endpoint.post(body, AbortSignal.timeout(requestTimeoutMs));
    if (code < 200 || code > 299) throw new Error(`the audit webhook answered ${code}`);
  }

  /** Waits for a token of the bucket. */
  async #throttle(): Promise<void> {
    const { clock, throttleQps, throttleBurst } = this.#options;
    if (throttleQps <= 0 || this.#closed) return;
    const nowMs = clock.steadyMs();
    this.#allowance = Math.min(throttleBurst, this.#allowance + ((nowMs - this.#allowanceMs) / 1_000) * throttleQps);
    this.#allowanceMs = nowMs;
    if (this.#allowance < 1) await this.#pause(((1 - this.#allowance) / throttleQps) * 1_000);
    this.#allowance -= 1;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(ms, resolve);
      this.#resume = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
  }
}
