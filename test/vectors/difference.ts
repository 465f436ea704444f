/** One difference of a case. */
export interface Difference {
  readonly name: string;
  readonly aspect: string;
  readonly expected: unknown;
  readonly actual: unknown;
}
