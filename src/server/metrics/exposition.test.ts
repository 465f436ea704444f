import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import { systemClock } from "../../process/clock.ts";
import { BoundCounter, BoundHistogram, CollectedFamily } from "./bound-metric.ts";
import { BoundSummary } from "./bound-summary.ts";
import { numberText, resetMetrics } from "./exposition.ts";
import { metricsText } from "./testing.ts";

test("every kind of family is written, with what upstream promises of it", async () => {
  const registry = new Registry();
  const requests = new BoundCounter("apiserver_request_total", "Requests\nby \\ code.");
  const sizes = new BoundHistogram("apiserver_watch_events_sizes", "Sizes.", [1, 1e6]);
  for (const family of [requests, sizes]) family.register(registry);
  requests.labels({ path: 'a"b\\c\nd' }).value = 3;
  const size = sizes.labels({});
  size.observe(1);
  size.observe(2, 2);
  new CollectedFamily("quorate_limit", "Limit.", "gauge", () => [[{}, Number.POSITIVE_INFINITY]]).register(registry);
  new Gauge({ name: "quorate_term", help: "Term.", registers: [registry] }).set(7);
  expect(await metricsText(registry)).toBe(
    `# HELP apiserver_request_total [STABLE] Requests\\nby \\\\ code.
# TYPE apiserver_request_total counter
apiserver_request_total{path="a\\"b\\\\c\\nd"} 3
# HELP apiserver_watch_events_sizes [ALPHA] Sizes.
# TYPE apiserver_watch_events_sizes histogram
apiserver_watch_events_sizes_bucket{le="1"} 1
apiserver_watch_events_sizes_bucket{le="1e+06"} 3
apiserver_watch_events_sizes_bucket{le="+Inf"} 3
apiserver_watch_events_sizes_sum 5
apiserver_watch_events_sizes_count 3
# HELP quorate_limit Limit.
# TYPE quorate_limit gauge
quorate_limit +Inf
# HELP quorate_term Term.
# TYPE quorate_term gauge
quorate_term 7
`,
  );
});

test("a reset sets what is counted to zero, and leaves what is a state", async () => {
  const registry = new Registry();
  const requests = new BoundCounter("apiserver_request_total", "Requests.");
  const inflight = new BoundCounter("apiserver_current_inflight_requests", "Requests now.", "gauge");
  const sizes = new BoundHistogram("apiserver_watch_events_sizes", "Sizes.", [1]);
  const times = new BoundSummary("apiserver_times", "Times.", systemClock);
  for (const family of [requests, inflight, sizes, times]) family.register(registry);
  const tries = new Counter({ name: "tries_total", help: "Tries.", registers: [registry] });
  const term = new Gauge({ name: "term", help: "Term.", registers: [registry] });
  requests.labels({}).value = 3;
  inflight.labels({}).value = 2;
  sizes.labels({}).observe(5);
  times.labels({}).observe(5);
  tries.inc();
  term.set(7);
  resetMetrics(registry);
  expect((await metricsText(registry)).split("\n")).toEqual(
    expect.arrayContaining([
      "apiserver_request_total 0",
      "apiserver_current_inflight_requests 2",
      "apiserver_watch_events_sizes_count 0",
      "apiserver_times_count 0",
      "tries_total 0",
      "term 7",
    ]),
  );
});

test("a large registry is written in turns of the event loop", async () => {
  const registry = new Registry();
  const durations = new BoundHistogram(
    "apiserver_request_duration_seconds",
    "Durations.",
    Array.from(Array(30).keys()),
  );
  durations.register(registry);
  for (let at = 0; at < 5_000; at++) durations.labels({ resource: `a-resource-with-a-long-name-${at}` });
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const text = await metricsText(registry);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
  expect(text.split("\n")).toHaveLength(5_000 * 33 + 3);
});

test.each([
  [0, "0"],
  [0.005, "0.005"],
  [1e-5, "1e-05"],
  [450_000, "450000"],
  [1_048_576, "1.048576e+06"],
])("the bound %p is %s", (value, text) => expect(numberText(value)).toBe(text));
