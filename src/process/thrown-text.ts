/** Returns the message of a caught value, which need not be an Error. */
export function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
