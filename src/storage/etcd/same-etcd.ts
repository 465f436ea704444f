import { type Revision, toRevision } from "../../api/revision.ts";
import { StoreUnavailableError } from "../store.ts";
import { numberOf, type ResponseHeader } from "./client/messages.ts";

const cause =
  "it was restored from a snapshot or its data was replaced. Restart this server, and the clients that watch it";

/** Recognizes the etcd that the mirror follows: its cluster keeps its number and its revisions. */
export class SameEtcd {
  readonly #onOther: (message: string) => void;
  #clusterId: string | undefined;

  /** @param onOther called when etcd is another one, or has lost revisions */
  constructor(onOther: (message: string) => void) {
    this.#onOther = onOther;
  }

  /**
   * Returns the revision of a response.
   * @param known a revision that etcd had before the request
   * @throws StoreUnavailableError if another etcd has answered
   */
  revisionOf(header: ResponseHeader, known: Revision, outcome: "unknown" | "notDone"): Revision {
    const revision = toRevision(numberOf(header.revision));
    const clusterId = String(header.clusterId);
    this.#clusterId ??= clusterId;
    if (revision < known) throw this.#other(`etcd went back from revision ${known} to ${revision}`, outcome);
    if (clusterId !== this.#clusterId) {
      throw this.#other(`etcd is cluster ${clusterId} and was cluster ${this.#clusterId}`, outcome);
    }
    return revision;
  }

  #other(difference: string, outcome: "unknown" | "notDone"): StoreUnavailableError {
    const message = `${difference}: ${cause}`;
    this.#onOther(message);
    return new StoreUnavailableError(message, outcome);
  }
}
