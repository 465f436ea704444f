import type { Clock } from "../../process/clock.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { compareResult, compareTarget, methods, numberOf } from "./client/messages.ts";
import { compactKey } from "./compacted-mark.ts";

const timeoutMs = 30_000;

export interface CompactorOptions {
  readonly client: EtcdClient;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Removes history up to a revision. */
  readonly compact: (revision: number) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * Removes history from etcd as kube-apiserver does, so that both can share one etcd. The version of a key counts the
 * compactions. A server that finds the version it knows increments it, and removes the history up to the revision of its
 * last attempt. The others find another version, and try again one interval later.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  #version = 0;
  /** The revision at the last attempt; 0 before the first. */
  #revision = 0;
  #running = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  /** Runs until disposed. */
  start(): Disposable {
    const { clock, intervalMs } = this.#options;
    return clock.every(intervalMs, () => void this.#tick());
  }

  /** Makes one attempt. @throws EtcdError, StoreUnavailableError */
  async attempt(): Promise<void> {
    const { client, compact } = this.#options;
    const version = this.#version;
    const revision = this.#revision;
    const response = await client.call(
      methods.txn,
      {
        compare: [{ result: compareResult.equal, target: compareTarget.version, key: compactKey, version }],
        success: [{ put: { key: compactKey, value: Buffer.from(String(revision)) } }],
        failure: [{ range: { key: compactKey } }],
      },
      timeoutMs,
    );
    this.#revision = numberOf(response.header.revision);
    if (!response.succeeded) {
      const [found] = response.responses[0]?.range?.kvs ?? [];
      this.#version = found === undefined ? 0 : numberOf(found.version);
      return;
    }
    this.#version = version + 1;
    if (revision > 0) await compact(revision);
  }

  async #tick(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      await this.attempt();
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#running = false;
    }
  }
}
