import type { Sample } from "./exposition.ts";

/** Upper ends of the buckets in seconds, Prometheus' own. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts durations by their length. */
export class DurationHistogram {
  /** Durations by bucket, the last one for all others. */
  readonly #counts: number[] = Array(buckets.length + 1).fill(0);
  #seconds = 0;

  observe(seconds: number): void {
    this.#seconds += seconds;
    const found = buckets.findIndex((bucket) => seconds <= bucket);
    const at = found === -1 ? buckets.length : found;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Returns the samples of a metric family of type histogram. */
  samples(labels: Readonly<Record<string, string>>): Sample[] {
    let count = 0;
    const samples: Sample[] = [...buckets, Number.POSITIVE_INFINITY].map((bucket, at) => {
      count += this.#counts[at] ?? 0;
      const le = bucket === Number.POSITIVE_INFINITY ? "+Inf" : String(bucket);
      return { suffix: "_bucket", labels: { ...labels, le }, value: count };
    });
    return [...samples, { suffix: "_sum", labels, value: this.#seconds }, { suffix: "_count", labels, value: count }];
  }
}
