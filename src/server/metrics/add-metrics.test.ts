import { expect, test } from "bun:test";
import { addMetrics } from "./add-metrics.ts";

const exposition = (...families: readonly (readonly [type: string, name: string, ...series: string[]])[]) =>
  families
    .map(([type, name, ...series]) => [`# HELP ${name} About it.`, `# TYPE ${name} ${type}`, ...series, ""].join("\n"))
    .join("");

test("counters and the series of histograms are sums, in the order of the first text", async () => {
  const one = exposition(
    ["counter", "requests_total", 'requests_total{verb="GET",path="a b"} 3', 'requests_total{verb="PUT"} 1'],
    ["histogram", "took_seconds", 'took_seconds_bucket{le="+Inf"} 2', "took_seconds_sum 0.5", "took_seconds_count 2"],
  );
  const other = exposition(
    ["histogram", "took_seconds", 'took_seconds_bucket{le="+Inf"} 1', "took_seconds_sum 0.25", "took_seconds_count 1"],
    ["counter", "requests_total", 'requests_total{verb="LIST"} 7', 'requests_total{verb="GET",path="a b"} 4'],
  );
  expect(await addMetrics(one, [other, other])).toBe(
    exposition(
      [
        "counter",
        "requests_total",
        'requests_total{verb="GET",path="a b"} 11',
        'requests_total{verb="PUT"} 1',
        'requests_total{verb="LIST"} 14',
      ],
      ["histogram", "took_seconds", 'took_seconds_bucket{le="+Inf"} 4', "took_seconds_sum 1", "took_seconds_count 4"],
    ),
  );
});

test("a gauge that every process has a part of is a sum, and any other has the value of the first process", async () => {
  const text = (inFlight: number, objects: number, further: string) =>
    exposition(
      ["gauge", "apiserver_current_inflight_requests", `apiserver_current_inflight_requests{k="mutating"} ${inFlight}`],
      ["gauge", "apiserver_storage_objects", `apiserver_storage_objects{resource="pods"} ${objects}`],
      ["gauge", "apiserver_requested_deprecated_apis", `apiserver_requested_deprecated_apis{v="${further}"} 1`],
    );
  const sum = await addMetrics(text(2, 100, "v1"), [text(3, 99, "v2")]);
  expect(sum).toContain('apiserver_current_inflight_requests{k="mutating"} 5\n');
  expect(sum).toContain('apiserver_storage_objects{resource="pods"} 100\n');
  expect(sum).toContain('apiserver_requested_deprecated_apis{v="v2"} 1\n');
});

test("a family without series, or of one process only, stays", async () => {
  const one = exposition(["counter", "none_total"], ["gauge", "first", "first 1"]);
  const other = exposition(["counter", "none_total", "none_total 2"], ["gauge", "second", "second +Inf"]);
  expect(await addMetrics(one, [other])).toBe(
    exposition(
      ["counter", "none_total", "none_total 2"],
      ["gauge", "first", "first 1"],
      ["gauge", "second", "second +Inf"],
    ),
  );
});
