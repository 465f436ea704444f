/** Outcomes of failed requests that the store tells apart. */
export type EtcdErrorKind =
  /** The server was not reached, did not answer, or has no leader. The request may have been done. */
  | "interrupted"
  /** Nothing of the request was done: it was not sent, or the server refused to begin with it. */
  | "notSent"
  | "compacted"
  /** The revision lies in the future. */
  | "future"
  /** The database is full. A write may have been done: etcd applies the one that exceeds the limit, and then fails it. */
  | "noSpace"
  | "tooManyRequests"
  | "tooLarge"
  | "leaseNotFound"
  | "leaseExists"
  | "denied"
  | "other";

/** A failed request to etcd. The message is etcd's own text, or the client's. */
export class EtcdError extends Error {
  readonly kind: EtcdErrorKind;
  constructor(kind: EtcdErrorKind, message: string) {
    super(message);
    this.name = "EtcdError";
    this.kind = kind;
  }

  /** Whether another attempt may succeed. */
  get isPassing(): boolean {
    return this.kind === "interrupted" || this.kind === "notSent" || this.kind === "tooManyRequests";
  }
}
