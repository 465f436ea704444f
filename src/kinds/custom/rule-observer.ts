/** Hears how long the rules of custom resources take. */
export interface RuleObserver {
  /** Counts the compilation of the rules of one node of a schema. */
  compiled(seconds: number): void;
  /** Counts one run of all rules on an object, with the turns that others had meanwhile. */
  evaluated(seconds: number): void;
}
