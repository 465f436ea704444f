import { DurationHistogram } from "../../serving/stats/duration-histogram.ts";
import type { ProbeKind } from "../pod-view.ts";

/** The results of one kind of probe of one container since the agent has known its pod, over all runs. */
export class ProbeCount {
  successes = 0;
  failures = 0;
  /** Durations of successful probes. */
  readonly durations = new DurationHistogram();
  readonly container: string;
  readonly kind: ProbeKind;

  constructor(container: string, kind: ProbeKind) {
    this.container = container;
    this.kind = kind;
  }

  add(isSuccess: boolean, seconds: number): void {
    if (!isSuccess) {
      this.failures++;
      return;
    }
    this.successes++;
    this.durations.observe(seconds);
  }
}
