import type { Registry } from "prom-client";
import { type ExposedFamily, type Labels, labelText, numberText, type Sample, sampleLine } from "./exposition.ts";

/**
 * Counters and histograms whose children are plain numbers, and families that are computed from the server's state at
 * each scrape. prom-client hashes the labels of a bound child at every observation, which costs microseconds per request.
 * Here labels are formatted at each scrape.
 */
export interface CounterChild {
  value: number;
}

interface Bound<Child> {
  readonly labels: string;
  readonly child: Child;
}

/** A counter whose children are held by the code that counts. */
export class BoundCounter implements ExposedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly #children: Bound<CounterChild>[] = [];

  constructor(name: string, help: string, type: "counter" | "gauge" = "counter") {
    this.name = name;
    this.help = help;
    this.type = type;
  }

  /** Returns a new child. Call it once per combination of labels, and keep the child. */
  labels(labels: Labels): CounterChild {
    const child: CounterChild = { value: 0 };
    this.#children.push({ labels: labelText(labels), child });
    return child;
  }

  register(registry: Registry): void {
    registerFamily(registry, this);
  }

  *text(): Generator<string> {
    for (const { labels, child } of this.#children) yield sampleLine(this.name, labels, child.value);
  }

  reset(): void {
    if (this.type === "counter") for (const { child } of this.#children) child.value = 0;
  }
}

export class HistogramChild {
  readonly #bounds: readonly number[];
  /** One count per bound, and a last one for values above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Counts a value, `times` times. */
  observe(value: number, times = 1): void {
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at++;
    this.#counts[at] = (this.#counts[at] as number) + times;
    this.#sum += value * times;
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sum = 0;
  }

  /** Returns all lines of the child. `bounds` are the formatted bounds. */
  text(name: string, labels: string, bounds: readonly string[]): string {
    const before = labels === "" ? "" : `${labels},`;
    let total = 0;
    let lines = "";
    for (let at = 0; at < bounds.length; at++) {
      total += this.#counts[at] as number;
      lines += `${name}_bucket{${before}le="${bounds[at]}"} ${total}\n`;
    }
    return lines + sampleLine(`${name}_sum`, labels, this.#sum) + sampleLine(`${name}_count`, labels, total);
  }
}

export class BoundHistogram implements ExposedFamily {
  readonly name: string;
  readonly help: string;
  readonly type = "histogram";
  readonly #bounds: readonly number[];
  readonly #boundTexts: readonly string[];
  readonly #children: Bound<HistogramChild>[] = [];

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
    this.#boundTexts = [...bounds.map(numberText), "+Inf"];
  }

  /** Returns a new child. Call it once per combination of labels, and keep the child. */
  labels(labels: Labels): HistogramChild {
    const child = new HistogramChild(this.#bounds);
    this.#children.push({ labels: labelText(labels), child });
    return child;
  }

  register(registry: Registry): void {
    registerFamily(registry, this);
  }

  *text(): Generator<string> {
    for (const { labels, child } of this.#children) yield child.text(this.name, labels, this.#boundTexts);
  }

  reset(): void {
    for (const { child } of this.#children) child.reset();
  }
}

/** A family that is computed from the server's state at each scrape. */
export class CollectedFamily implements ExposedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly #collect: () => Iterable<Sample>;

  constructor(name: string, help: string, type: "counter" | "gauge", collect: () => Iterable<Sample>) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.#collect = collect;
  }

  register(registry: Registry): void {
    registerFamily(registry, this);
  }

  *text(): Generator<string> {
    for (const [labels, value] of this.#collect()) yield sampleLine(this.name, labelText(labels), value);
  }
}

/** Returns the child for a value of the only label; makes it on the first call. `values` must be bounded. */
export function childrenBy<Value extends string, Child>(make: (value: Value) => Child): (value: Value) => Child {
  const children = new Map<Value, Child>();
  return (value) => {
    let child = children.get(value);
    if (child === undefined) {
      child = make(value);
      children.set(value, child);
    }
    return child;
  };
}

/** prom-client's registry holds the families, but does not read them, see `exposeMetrics`. */
function registerFamily(registry: Registry, family: ExposedFamily): void {
  registry.registerMetric(family as unknown as Parameters<Registry["registerMetric"]>[0]);
}
