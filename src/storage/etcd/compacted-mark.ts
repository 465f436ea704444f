import { type Revision, toRevision } from "../../api/revision.ts";
import { firstRevision } from "../state-machine.ts";
import { CompactedError } from "../store.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { eventType, methods, numberOf, type WatchEvent } from "./client/messages.ts";

/** The key in which the servers on one etcd agree on compactions. It is upstream's. */
export const compactKey = "compact_rev_key";

/** A key that does not exist. */
const unusedKey = `${compactKey}/unused`;
/** Maximum time to learn the oldest readable revision. */
const probeTimeoutMs = 5_000;

/** The oldest readable revision. Every server on this etcd can move it. */
export class CompactedMark {
  readonly #client: EtcdClient;
  #revision: Revision = firstRevision;

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  get revision(): Revision {
    return this.#revision;
  }

  /** Moves the mark, never back. */
  advance(revision: number): void {
    if (revision > this.#revision) this.#revision = toRevision(revision);
  }

  /** Moves the mark when another server compacts. It writes the revision just before. */
  observe({ kv, type }: WatchEvent): void {
    if (kv.key.toString() !== compactKey || type === eventType.delete) return;
    const revision = Number(Buffer.from(kv.value).toString());
    if (Number.isSafeInteger(revision)) this.advance(revision);
  }

  /** @throws CompactedError */
  require(revision: Revision): void {
    if (revision < this.#revision) throw new CompactedError(this.#revision);
  }

  /** Returns the error of a read that etcd refused because of a compaction. */
  async errorOf(asked: Revision): Promise<CompactedError> {
    await this.learn();
    this.advance(asked + 1);
    return new CompactedError(this.#revision);
  }

  /** Asks etcd. @throws EtcdError */
  async learn(): Promise<void> {
    try {
      await this.#client.repeat(methods.range, { key: unusedKey, revision: firstRevision }, probeTimeoutMs);
    } catch (error) {
      if (!(error instanceof EtcdError) || error.kind !== "compacted") throw error;
      this.advance(await this.#compactedRevision());
    }
  }

  /** Returns the revision with which etcd refuses a watch of compacted history. */
  #compactedRevision(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const watch = this.#client.watch(
      { key: unusedKey, startRevision: firstRevision },
      {
        response(response) {
          if (!response.canceled) return;
          watch[Symbol.dispose]();
          resolve(numberOf(response.compactRevision));
        },
        ended: reject,
      },
    );
    return promise;
  }
}
