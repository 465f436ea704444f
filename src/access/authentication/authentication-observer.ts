/** A token of a service account: before or after its own renewal time, or of a Secret. */
export type TokenUse = "valid" | "stale" | "legacy";

/** Measures authentication. */
export interface AuthenticationObserver {
  tokenUsed(kind: TokenUse): void;
  /** Records that a changed configuration was put into use, or could not be. */
  reloaded(isUsed: boolean): void;
}
