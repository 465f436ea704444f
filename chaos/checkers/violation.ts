/** A broken promise of the server. */
export interface Violation {
  /** Name of the law. The report groups violations by it. */
  readonly law: string;
  readonly detail: string;
}
