import type { MetricFamily, Sample } from "./exposition.ts";

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const longRunningRoots: ReadonlySet<string> = new Set(["exec", "attach", "portForward", "debug"]);

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  total: number;
  running: number;
  seconds: number;
  /** Finished requests by bucket, the last one for all others. */
  readonly counts: number[];
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
      series = { labels, total: 0, running: 0, seconds: 0, counts: Array(buckets.length + 1).fill(0) };
      this.#series.set(key, series);
    }
    const counted = series;
    counted.total++;
    counted.running++;
    return (seconds) => {
      counted.running--;
      counted.seconds += seconds;
      const found = buckets.findIndex((bucket) => seconds <= bucket);
      const at = found === -1 ? buckets.length : found;
      counted.counts[at] = (counted.counts[at] ?? 0) + 1;
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
        samples: all.flatMap(histogram),
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

function histogram({ labels, counts, seconds }: Series): Sample[] {
  let count = 0;
  const samples: Sample[] = [...buckets, Number.POSITIVE_INFINITY].map((bucket, at) => {
    count += counts[at] ?? 0;
    const le = bucket === Number.POSITIVE_INFINITY ? "+Inf" : String(bucket);
    return { suffix: "_bucket", labels: { ...labels, le }, value: count };
  });
  return [...samples, { suffix: "_sum", labels, value: seconds }, { suffix: "_count", labels, value: count }];
}
