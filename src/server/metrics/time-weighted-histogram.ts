import type { Registry } from "prom-client";
import type { Clock } from "../../process/clock.ts";
import { BoundHistogram, type HistogramChild } from "./bound-metric.ts";
import type { ExposedFamily, Labels } from "./exposition.ts";

const nanosecondsPerMs = 1e6;

/**
 * A value over time: each nanosecond counts as one observation of the value that it had. Times are on the steady clock.
 * They come in with each call, because reading the clock for each value would cost more than all the counting.
 */
export class TimedValue {
  readonly #histogram: HistogramChild;
  #value = 0;
  #sinceMs: number;

  constructor(histogram: HistogramChild, nowMs: number) {
    this.#histogram = histogram;
    this.#sinceMs = nowMs;
  }

  set(value: number, nowMs: number): void {
    if (value === this.#value) return;
    this.addUp(nowMs);
    this.#value = value;
  }

  /** Counts the time up to now. */
  addUp(nowMs: number): void {
    const nanoseconds = Math.round((nowMs - this.#sinceMs) * nanosecondsPerMs);
    if (nanoseconds <= 0) return;
    this.#histogram.observe(this.#value, nanoseconds);
    this.#sinceMs = nowMs;
  }
}

/** A histogram of values, weighted by how long they lasted. */
export class TimeWeightedHistogram implements ExposedFamily {
  readonly type = "histogram";
  readonly #family: BoundHistogram;
  readonly #clock: Clock;
  readonly #values: TimedValue[] = [];

  constructor(name: string, help: string, bounds: readonly number[], clock: Clock) {
    this.#family = new BoundHistogram(name, help, bounds);
    this.#clock = clock;
  }

  get name(): string {
    return this.#family.name;
  }

  get help(): string {
    return this.#family.help;
  }

  /** Returns a new child with the value 0. Call it once per combination of labels, and keep the child. */
  labels(labels: Labels): TimedValue {
    const value = new TimedValue(this.#family.labels(labels), this.#clock.steadyMs());
    this.#values.push(value);
    return value;
  }

  register(registry: Registry): void {
    registry.registerMetric(this as unknown as Parameters<Registry["registerMetric"]>[0]);
  }

  text(): Iterable<string> {
    const nowMs = this.#clock.steadyMs();
    for (const value of this.#values) value.addUp(nowMs);
    return this.#family.text();
  }
}
