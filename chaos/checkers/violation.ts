/** A broken promise of the server. */
export interface Violation {
  /** Name of the law, by which the report groups. */
  readonly law: string;
  readonly detail: string;
}
