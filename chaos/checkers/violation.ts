/** Something that was promised and does not hold. */
export interface Violation {
  /** Name of the law, as the report groups by it. */
  readonly law: string;
  readonly detail: string;
}
