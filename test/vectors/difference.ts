/** One thing in which a case differs. */
export interface Difference {
  readonly name: string;
  readonly aspect: string;
  readonly expected: unknown;
  readonly actual: unknown;
}
