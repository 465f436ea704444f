import type { Revision } from "../../api/revision.ts";
import { SharedQuestion } from "../../process/shared-question.ts";
import { StoreUnavailableError } from "../store.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { methods, type RangeRequest } from "./client/messages.ts";
import type { SameEtcd } from "./same-etcd.ts";

export interface ReadBarrierParts {
  readonly client: EtcdClient;
  /** A key below the prefix of this server; reading it tells etcd's revision. */
  readonly key: string;
  readonly timeoutMs: number;
  /** The revision of the mirror. */
  readonly known: () => Revision;
  readonly same: SameEtcd;
}

/** Learns the newest revision of etcd. All callers that wait when a read begins share it. */
export class ReadBarrier {
  readonly #parts: ReadBarrierParts;
  readonly #newest = new SharedQuestion(() => this.#read());

  constructor(parts: ReadBarrierParts) {
    this.#parts = parts;
  }

  /**
   * Returns a revision that includes every write acknowledged before the call.
   * @throws StoreUnavailableError
   */
  confirm(): Promise<Revision> {
    return this.#newest.ask();
  }

  async #read(): Promise<Revision> {
    const { client, key, timeoutMs, known, same } = this.#parts;
    const before = known();
    const request: RangeRequest = { key, keysOnly: true };
    try {
      const { header } = await client.repeat(methods.range, request, timeoutMs);
      return same.revisionOf(header, before, "notDone");
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      throw new StoreUnavailableError(`etcd does not confirm its revision: ${error.message}`, "notDone");
    }
  }
}
