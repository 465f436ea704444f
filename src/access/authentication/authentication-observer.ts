/** The use of a service account token: before or after its own renewal time, or a Secret's. */
export type TokenUse = "valid" | "stale" | "legacy";

/** Measures authentication. */
export interface AuthenticationObserver {
  tokenUsed(kind: TokenUse): void;
  /** Records whether a changed configuration was put into use. */
  reloaded(isUsed: boolean): void;
}
