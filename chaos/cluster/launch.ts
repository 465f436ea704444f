/** The way to run a member's program. */
export interface Launch {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}
