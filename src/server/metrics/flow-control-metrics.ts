import type { Registry } from "prom-client";
import type { FlowSchema } from "../../api/types/flowcontrol-v1.ts";
import { type RequestKind, requestKind } from "../../http/filters/max-in-flight.ts";
import type { FlowControl } from "../../http/flow-control/flow-control.ts";
import type { FlowObserver, LevelFlow } from "../../http/flow-control/flow-observer.ts";
import type { PriorityLevel } from "../../http/flow-control/priority-level.ts";
import { widestOf } from "../../http/flow-control/seats.ts";
import type { Clock } from "../../process/clock.ts";
import { BoundCounter, BoundHistogram, type CounterChild, childrenBy, type HistogramChild } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import { exposeFlowGauges } from "./flow-gauges.ts";
import { type TimedValue, TimeWeightedHistogram } from "./time-weighted-histogram.ts";

const prefix = "apiserver_flowcontrol";
const durationBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const lengthBuckets = [0, 10, 25, 50, 100, 250, 500, 1000];
const seatBuckets = [1, 2, 4, 8, 16, 32, 64, 100];
const utilizationBuckets = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const requestBuckets = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];
const kindBuckets = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const demandBuckets = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];
/** Administrators name schemas and levels, so both labels are bounded. */
const nameLabels = ["flow_schema", "priority_level"];

export interface FlowMetrics {
  readonly observer: FlowObserver;
  /** Exposes values that are computed from the levels at each scrape. */
  expose(control: FlowControl): void;
}

/** The counters of one schema. Children that few requests need are made on demand. */
interface SchemaSeries {
  readonly dispatched: CounterChild;
  readonly estimated: HistogramChild;
  readonly regular: HistogramChild;
  readonly watches: () => HistogramChild;
  readonly queueLength: () => HistogramChild;
  readonly waited: (executed: "true" | "false") => HistogramChild;
  readonly rejected: (reason: string) => CounterChild;
}

interface LevelSeries {
  readonly seats: TimedValue;
  readonly executing: TimedValue;
  readonly waiting: TimedValue;
  readonly demand: TimedValue;
}

/**
 * Registers the metrics of priority and fairness, under upstream's names.
 * @param seats of the whole server
 */
export function flowControlMetrics(registry: Registry, clock: Clock, seats: number): FlowMetrics {
  const schemas = new SchemaFamilies(registry);
  const levels = new LevelFamilies(registry, clock);
  const kinds = kindGauges(registry, clock, seats);
  const observer: FlowObserver = {
    arrived: (flow, wanted) => schemas.of(flow).estimated.observe(widestOf(wanted)),
    queued(flow, queueLength, nowMs) {
      schemas.of(flow).queueLength().observe(queueLength);
      kinds.add("waiting", flow, 1, nowMs);
    },
    started(flow, waitedMs, nowMs) {
      const series = schemas.of(flow);
      series.dispatched.value++;
      kinds.add("executing", flow, 1, nowMs);
      if (waitedMs === undefined) return;
      series.waited("true").observe(waitedMs / 1_000);
      kinds.add("waiting", flow, -1, nowMs);
    },
    refused(flow, reason, waitedMs, nowMs) {
      const series = schemas.of(flow);
      series.rejected(reason).value++;
      if (waitedMs === undefined) return;
      series.waited("false").observe(waitedMs / 1_000);
      kinds.add("waiting", flow, -1, nowMs);
    },
    ended(flow, ranMs, nowMs) {
      const series = schemas.of(flow);
      (flow.info.verb === "watch" ? series.watches() : series.regular).observe(ranMs / 1_000);
      kinds.add("executing", flow, -1, nowMs);
    },
    changed: (level, nowMs) => levels.changed(level, nowMs),
  };
  return {
    observer,
    expose: (control) =>
      exposeFlowGauges(registry, {
        control,
        waiting: kinds.waiting,
      }),
  };
}

/** The families with one series per schema. */
class SchemaFamilies {
  readonly #rejected = new BoundCounter(`${prefix}_rejected_requests_total`, "Refused requests.");
  readonly #dispatched = new BoundCounter(`${prefix}_dispatched_requests_total`, "Requests that started to run.");
  readonly #lengths = new BoundHistogram(
    `${prefix}_request_queue_length_after_enqueue`,
    "Length of the queue after a request joined it.",
    lengthBuckets,
  );
  readonly #waits = new BoundHistogram(
    `${prefix}_request_wait_duration_seconds`,
    "Time that requests waited in their queues.",
    durationBuckets,
  );
  readonly #executions = new BoundHistogram(
    `${prefix}_request_execution_seconds`,
    "Duration of requests; of a watch, the time until it has sent its initial events.",
    durationBuckets,
  );
  readonly #estimates = new BoundHistogram(`${prefix}_work_estimated_seats`, "Seats that requests need.", seatBuckets);
  readonly #bySchema = new WeakMap<FlowSchema, SchemaSeries>();
  readonly #byNames = boundSeries((labels) => this.#seriesOf(labels), nameLabels);

  constructor(registry: Registry) {
    const families = [this.#rejected, this.#dispatched, this.#lengths, this.#waits, this.#executions, this.#estimates];
    for (const family of families) family.register(registry);
  }

  /** A schema belongs to one level, and a changed schema is a new value. */
  of({ schema, level }: LevelFlow): SchemaSeries {
    let series = this.#bySchema.get(schema);
    if (series === undefined) {
      series = this.#byNames({ flow_schema: schema.metadata.name ?? "", priority_level: level.name });
      this.#bySchema.set(schema, series);
    }
    return series;
  }

  #seriesOf(labels: Readonly<Record<string, string>>): SchemaSeries {
    const executions = childrenBy((type: "watch" | "regular") => this.#executions.labels({ ...labels, type }));
    const lengths = childrenBy(() => this.#lengths.labels(labels));
    return {
      dispatched: this.#dispatched.labels(labels),
      estimated: this.#estimates.labels(labels),
      regular: executions("regular"),
      watches: () => executions("watch"),
      queueLength: () => lengths(""),
      waited: childrenBy((execute) => this.#waits.labels({ ...labels, execute })),
      rejected: childrenBy((reason) => this.#rejected.labels({ ...labels, reason })),
    };
  }
}

/** The families with one series per level, which weight values by the time that they lasted. */
class LevelFamilies {
  readonly #seats: TimeWeightedHistogram;
  readonly #requests: TimeWeightedHistogram;
  readonly #demand: TimeWeightedHistogram;
  readonly #byLevel = new WeakMap<PriorityLevel, LevelSeries>();
  readonly #byName = boundSeries((labels) => this.#seriesOf(labels), nameLabels.slice(1));

  constructor(registry: Registry, clock: Clock) {
    this.#seats = new TimeWeightedHistogram(
      `${prefix}_priority_level_seat_utilization`,
      "Fraction of the level's nominal seats in use, at the end of each nanosecond.",
      utilizationBuckets,
      clock,
    );
    this.#requests = new TimeWeightedHistogram(
      `${prefix}_priority_level_request_utilization`,
      "Running requests as a fraction of the nominal seats, and waiting requests as a fraction of the queues' capacity, at the end of each nanosecond.",
      requestBuckets,
      clock,
    );
    this.#demand = new TimeWeightedHistogram(
      `${prefix}_demand_seats`,
      "Demand for seats as a fraction of the level's nominal seats, at the end of each nanosecond.",
      demandBuckets,
      clock,
    );
    for (const family of [this.#seats, this.#requests, this.#demand]) family.register(registry);
  }

  changed(level: PriorityLevel, nowMs: number): void {
    let series = this.#byLevel.get(level);
    if (series === undefined) {
      series = this.#byName({ priority_level: level.name });
      this.#byLevel.set(level, series);
    }
    const { queues } = level;
    const nominal = Math.max(1, level.bounds.nominal);
    series.seats.set(queues.seatsInUse / nominal, nowMs);
    series.executing.set(queues.running / nominal, nowMs);
    series.waiting.set(queues.waiting / Math.max(1, queues.capacity), nowMs);
    series.demand.set(queues.seatsWanted / nominal, nowMs);
  }

  #seriesOf(labels: Readonly<Record<string, string>>): LevelSeries {
    return {
      seats: this.#seats.labels({ ...labels, phase: "executing" }),
      executing: this.#requests.labels({ ...labels, phase: "executing" }),
      waiting: this.#requests.labels({ ...labels, phase: "waiting" }),
      demand: this.#demand.labels(labels),
    };
  }
}

type Phase = "waiting" | "executing";

interface KindGauges {
  readonly waiting: Readonly<Record<RequestKind, number>>;
  add(phase: Phase, flow: LevelFlow, change: 1 | -1, nowMs: number): void;
}

/** Running requests as a fraction of the server's seats, and waiting requests, for reads and writes. */
function kindGauges(registry: Registry, clock: Clock, seats: number): KindGauges {
  const family = new TimeWeightedHistogram(
    `${prefix}_read_vs_write_current_requests`,
    "Running requests as a fraction of the server's seats, and waiting requests, by kind, at the end of each nanosecond.",
    kindBuckets,
    clock,
  );
  family.register(registry);
  const gauges = (phase: Phase, limit: number) => {
    const running = { readOnly: 0, mutating: 0 };
    const values = {
      readOnly: family.labels({ phase, request_kind: "readOnly" }),
      mutating: family.labels({ phase, request_kind: "mutating" }),
    };
    return { running, values, limit };
  };
  const phases = { waiting: gauges("waiting", 1), executing: gauges("executing", seats) };
  return {
    waiting: phases.waiting.running,
    add(phase, { info }, change, nowMs) {
      const { running, values, limit } = phases[phase];
      const kind = requestKind(info);
      running[kind] += change;
      values[kind].set(running[kind] / limit, nowMs);
    },
  };
}
