import { DurationHistogram } from "./duration-histogram.ts";
import type { MetricFamily, Sample } from "./exposition.ts";

const longRunningRoots: ReadonlySet<string> = new Set(["exec", "attach", "portForward", "debug"]);

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  total: number;
  running: number;
  /** Durations of finished requests. */
  readonly durations: DurationHistogram;
}

/** Counts requests under kubelet's names. Only paths and methods that are served become labels. */
export class RequestCounts {
  readonly #series = new Map<string, Series>();

  /** @returns a function to call when the request is finished */
  begin(method: string, path: string, server: "readwrite" | "readonly"): (seconds: number) => void {
    const key = `${server} ${method} ${path}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      const labels = { long_running: String(longRunningRoots.has(path)), method, path, server_type: server };
      series = { labels, total: 0, running: 0, durations: new DurationHistogram() };
      this.#series.set(key, series);
    }
    const counted = series;
    counted.total++;
    counted.running++;
    return (seconds) => {
      counted.running--;
      counted.durations.observe(seconds);
    };
  }

  families(): MetricFamily[] {
    const all = [...this.#series.values()];
    const values = (valueOf: (series: Series) => number): Sample[] =>
      all.map((series) => ({ labels: series.labels, value: valueOf(series) }));
    return [
      {
        name: "kubelet_http_inflight_requests",
        help: "Number of the inflight http requests",
        type: "gauge",
        samples: values(({ running }) => running),
      },
      {
        name: "kubelet_http_requests_duration_seconds",
        help: "Duration in seconds to serve http requests",
        type: "histogram",
        samples: all.flatMap(({ labels, durations }) => durations.samples(labels)),
      },
      {
        name: "kubelet_http_requests_total",
        help: "Number of the http requests received since the server started",
        type: "counter",
        samples: values(({ total }) => total),
      },
    ];
  }
}
