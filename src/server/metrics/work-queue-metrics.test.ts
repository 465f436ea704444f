import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { metricsText } from "./testing.ts";
import { workQueueMetrics } from "./work-queue-metrics.ts";

test("queues of one name are counted together, and a queue that ends leaves nothing waiting", async () => {
  const registry = new Registry();
  const observe = workQueueMetrics(registry);
  const [first, second] = [observe("namespace"), observe("namespace")];
  for (const queue of [first, second]) queue.added("a");
  first.started("a");
  expect(await metricsText(registry)).toContain('workqueue_depth{name="namespace"} 1');
  first.ended("a");
  first.retried();
  second[Symbol.dispose]();
  const text = await metricsText(registry);
  expect(text).toContain('workqueue_adds_total{name="namespace"} 2');
  expect(text).toContain('workqueue_retries_total{name="namespace"} 1');
  expect(text).toContain('workqueue_depth{name="namespace"} 0');
  expect(text).toContain('workqueue_unfinished_work_seconds{name="namespace"} 0');
  expect(text).toContain('workqueue_work_duration_seconds_count{name="namespace"} 1');
});
