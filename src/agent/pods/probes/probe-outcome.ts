/** The result of a single probe, and the text that an Event shows. */
export interface ProbeOutcome {
  readonly result: "success" | "warning" | "failure";
  readonly output: string;
}
