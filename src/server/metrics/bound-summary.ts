import type { Registry } from "prom-client";
import type { Clock } from "../../process/clock.ts";
import { type ExposedFamily, type Labels, labelText, sampleLine } from "./exposition.ts";

const quantiles = [0.5, 0.9, 0.99];
/** Quantiles cover the last five hours, in parts of one hour. */
const parts = 5;
const partMs = 3_600_000;
/** Values are counted in steps of 5 %, from a microsecond to about an hour. */
const stepFactor = Math.log(1.05);
const valueMin = 1e-6;
const steps = 450;

/** Counts values by size, and forgets old ones. */
export class SummaryChild {
  readonly #clock: Clock;
  readonly #counts: Uint32Array[] = [new Uint32Array(steps)];
  #partStartMs: number;
  #count = 0;
  #sum = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#partStartMs = clock.steadyMs();
  }

  observe(value: number): void {
    this.#count++;
    this.#sum += value;
    const part = this.#currentPart();
    const step = value <= valueMin ? 0 : Math.min(steps - 1, Math.ceil(Math.log(value / valueMin) / stepFactor));
    part[step] = (part[step] as number) + 1;
  }

  reset(): void {
    for (const counts of this.#counts) counts.fill(0);
    this.#count = 0;
    this.#sum = 0;
  }

  text(name: string, labels: string): string {
    const before = labels === "" ? "" : `${labels},`;
    this.#currentPart();
    const lines = quantiles.map((quantile) =>
      sampleLine(name, `${before}quantile="${quantile}"`, this.#valueAt(quantile)),
    );
    return (
      lines.join("") + sampleLine(`${name}_sum`, labels, this.#sum) + sampleLine(`${name}_count`, labels, this.#count)
    );
  }

  /** Starts as many new parts as are due. */
  #currentPart(): Uint32Array {
    const passed = Math.floor((this.#clock.steadyMs() - this.#partStartMs) / partMs);
    for (let part = 0; part < Math.min(passed, parts); part++) this.#counts.push(new Uint32Array(steps));
    if (passed > 0) {
      this.#counts.splice(0, this.#counts.length - parts);
      this.#partStartMs += passed * partMs;
    }
    return this.#counts.at(-1) as Uint32Array;
  }

  /** NaN without values. */
  #valueAt(quantile: number): number {
    const counts = Array.from({ length: steps }, (_, step) =>
      this.#counts.reduce((sum, part) => sum + (part[step] as number), 0),
    );
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return Number.NaN;
    let seen = 0;
    const step = counts.findIndex((count) => (seen += count) >= quantile * total);
    return valueMin * Math.exp(step * stepFactor);
  }
}

/** A summary whose children are held by the code that observes. */
export class BoundSummary implements ExposedFamily {
  readonly name: string;
  readonly help: string;
  readonly type = "summary";
  readonly #clock: Clock;
  readonly #children: { readonly labels: string; readonly child: SummaryChild }[] = [];

  constructor(name: string, help: string, clock: Clock) {
    this.name = name;
    this.help = help;
    this.#clock = clock;
  }

  /** Returns a new child. Call it once per combination of labels, and keep the child. */
  labels(labels: Labels): SummaryChild {
    const child = new SummaryChild(this.#clock);
    this.#children.push({ labels: labelText(labels), child });
    return child;
  }

  register(registry: Registry): void {
    registry.registerMetric(this as unknown as Parameters<Registry["registerMetric"]>[0]);
  }

  *text(): Generator<string> {
    for (const { labels, child } of this.#children) yield child.text(this.name, labels);
  }

  reset(): void {
    for (const { child } of this.#children) child.reset();
  }
}
