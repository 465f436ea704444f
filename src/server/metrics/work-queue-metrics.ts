import type { Registry } from "prom-client";
import type { WorkQueueObserver } from "../../controllers/work-queue.ts";
import { BoundCounter, BoundHistogram, CollectedFamily, childrenBy, type HistogramChild } from "./bound-metric.ts";
import type { Sample } from "./exposition.ts";

/** Upstream's bounds, including the rounding of its computation: from 10 ns upwards, each ten times the one before. */
const durationBuckets = [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01, 0.1, 1, 10];

interface NamedQueues {
  readonly adds: { value: number };
  readonly retries: { value: number };
  readonly waited: HistogramChild;
  readonly worked: HistogramChild;
  readonly running: Set<QueueTimes>;
}

/**
 * Registers the metrics of work queues; returns a function that makes a queue's observer. The names are the queues' own.
 */
export function workQueueMetrics(registry: Registry): (name: string) => WorkQueueObserver {
  const adds = new BoundCounter("workqueue_adds_total", "Keys added to a queue.");
  const retries = new BoundCounter("workqueue_retries_total", "Retries of keys after a failure.");
  const waits = new BoundHistogram(
    "workqueue_queue_duration_seconds",
    "Time that keys wait in a queue.",
    durationBuckets,
  );
  const works = new BoundHistogram("workqueue_work_duration_seconds", "Time spent on a key.", durationBuckets);
  for (const family of [adds, retries, waits, works]) family.register(registry);
  const named = new Map<string, NamedQueues>();
  const queuesOf = childrenBy((name: string) => {
    const labels = { name };
    const queues: NamedQueues = {
      adds: adds.labels(labels),
      retries: retries.labels(labels),
      waited: waits.labels(labels),
      worked: works.labels(labels),
      running: new Set(),
    };
    named.set(name, queues);
    return queues;
  });
  const gauge = (name: string, help: string, read: (times: readonly QueueTimes[]) => number) => {
    const collect = function* (): Generator<Sample> {
      for (const [queue, { running }] of named) yield [{ name: queue }, read([...running])];
    };
    new CollectedFamily(`workqueue_${name}`, help, "gauge", collect).register(registry);
  };
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  gauge("depth", "Keys waiting in a queue.", (all) => sum(all.map(({ depth }) => depth)));
  gauge("unfinished_work_seconds", "Time spent so far on keys in progress.", (all) =>
    sum(all.flatMap((times) => times.unfinishedSeconds())),
  );
  gauge("longest_running_processor_seconds", "Time spent so far on the key that has been in progress longest.", (all) =>
    Math.max(0, ...all.flatMap((times) => times.unfinishedSeconds())),
  );
  return (name) => {
    const queues = queuesOf(name);
    const times = new QueueTimes(queues);
    queues.running.add(times);
    return times;
  };
}

/** The keys of one queue, with the times of their arrival and of the start of their work. */
class QueueTimes implements WorkQueueObserver {
  readonly #queues: NamedQueues;
  readonly #waiting = new Map<string, number>();
  readonly #working = new Map<string, number>();

  constructor(queues: NamedQueues) {
    this.#queues = queues;
  }

  get depth(): number {
    return this.#waiting.size;
  }

  unfinishedSeconds(): number[] {
    return [...this.#working.values()].map(secondsSince);
  }

  added(key: string): void {
    this.#queues.adds.value++;
    this.#waiting.set(key, performance.now());
  }

  started(key: string): void {
    const addedMs = this.#waiting.get(key);
    if (addedMs !== undefined) this.#queues.waited.observe(secondsSince(addedMs));
    this.#waiting.delete(key);
    this.#working.set(key, performance.now());
  }

  ended(key: string): void {
    const startedMs = this.#working.get(key);
    if (startedMs !== undefined) this.#queues.worked.observe(secondsSince(startedMs));
    this.#working.delete(key);
  }

  retried(): void {
    this.#queues.retries.value++;
  }

  [Symbol.dispose](): void {
    this.#queues.running.delete(this);
  }
}

function secondsSince(ms: number): number {
  return (performance.now() - ms) / 1_000;
}
