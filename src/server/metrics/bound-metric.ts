import type { Metric, MetricType, MetricValue, Registry } from "prom-client";

/**
 * Counters and histograms with plain numbers as children. prom-client hashes the labels of a bound child at every
 * observation, which costs microseconds per request. Here labels are read only when metrics are read.
 */
type Labels = Readonly<Record<string, string>>;
type Sample = MetricValue<string> & { readonly metricName?: string };

export interface CounterChild {
  value: number;
}

export class BoundCounter {
  readonly #name: string;
  readonly #help: string;
  readonly #children: { readonly labels: Labels; readonly child: CounterChild }[] = [];

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  /** Returns a new child. The caller keeps it, and calls once per combination of labels. */
  labels(labels: Labels): CounterChild {
    const child: CounterChild = { value: 0 };
    this.#children.push({ labels, child });
    return child;
  }

  register(registry: Registry): void {
    register(registry, this.#name, this.#help, "counter", () =>
      this.#children.map(({ labels, child }) => ({ labels: { ...labels }, value: child.value })),
    );
  }
}

export class HistogramChild {
  readonly #bounds: readonly number[];
  /** One count per bound, and a last one for values beyond all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at++;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
  }

  samples(name: string, labels: Labels): Sample[] {
    let total = 0;
    const samples: Sample[] = this.#bounds.map((le, at) => {
      total += this.#counts[at] as number;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total };
    });
    total += this.#counts[this.#bounds.length] as number;
    return [
      ...samples,
      { metricName: `${name}_bucket`, labels: { le: "+Inf", ...labels }, value: total },
      { metricName: `${name}_sum`, labels: { ...labels }, value: this.#sum },
      { metricName: `${name}_count`, labels: { ...labels }, value: total },
    ];
  }
}

export class BoundHistogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #children: { readonly labels: Labels; readonly child: HistogramChild }[] = [];

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  /** Returns a new child. The caller keeps it, and calls once per combination of labels. */
  labels(labels: Labels): HistogramChild {
    const child = new HistogramChild(this.#bounds);
    this.#children.push({ labels, child });
    return child;
  }

  register(registry: Registry): void {
    register(registry, this.#name, this.#help, "histogram", () =>
      this.#children.flatMap(({ labels, child }) => child.samples(this.#name, labels)),
    );
  }
}

/** Makes a metric with the only parts that prom-client reads: its name and its samples. */
function register(
  registry: Registry,
  name: string,
  help: string,
  type: "counter" | "histogram",
  values: () => Sample[],
): void {
  const get = async () => ({
    name,
    help,
    type: type as unknown as MetricType,
    values: values(),
    aggregator: "sum" as const,
  });
  registry.registerMetric({ name, get, reset() {} } as unknown as Metric);
}
