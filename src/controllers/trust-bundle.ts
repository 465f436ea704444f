/** The authorities by which clients verify this server. They change with the authority. */
export interface TrustBundle {
  /** Returns the PEM of one authority, or of several during a rotation. */
  pem(): string;
  /** Calls `run` when the bundle may have changed. */
  follow(run: () => void): Disposable;
}
