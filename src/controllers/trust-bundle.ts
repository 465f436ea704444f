/** What clients know this server by. It changes when the authority does. */
export interface TrustBundle {
  /** PEM of one authority, or of several of which one takes the place of another. */
  pem(): string;
  /** Calls `run` when it may be another one. */
  follow(run: () => void): Disposable;
}
