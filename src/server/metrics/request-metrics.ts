import type { Registry } from "prom-client";
import type { RequestKind } from "../../http/filters/max-in-flight.ts";
import type { FinishedRequest, RequestMetrics } from "../../http/filters/request-metrics.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import { BoundCounter, BoundHistogram, type CounterChild, childrenBy, type HistogramChild } from "./bound-metric.ts";
import { longRunningScope, type RequestLabels, RequestSeries } from "./request-series.ts";

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
/** The buckets of the SLI durations start at 50 ms, as upstream's do. */
const promisedBuckets = durationBuckets.slice(2);
const sizeBuckets = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const bodyBuckets = Array.from({ length: 31 }, (_, at) => 50_000 + at * 100_000);

/** The code for a request that the client closed before the response. */
const clientClosedCode = 499;

/** The counters of one label combination. Children that few requests need are made on demand. */
interface Series {
  readonly labels: RequestLabels;
  readonly duration: HistogramChild;
  readonly codes: Map<number, CounterChild>;
  promised?: HistogramChild;
  size?: HistogramChild;
  body?: HistogramChild;
  longRunning?: CounterChild;
  aborts?: CounterChild;
  terminations?: Map<number, CounterChild>;
}

/**
 * Registers the metrics of requests.
 * @param isServed reports whether a resource is served; other names never become labels
 */
export function requestMetrics(registry: Registry, isServed: (info: ResourceRequest) => boolean): RequestMetrics {
  const families = new RequestFamilies();
  for (const family of families.all) family.register(registry);
  const series = new RequestSeries<Series>((labels) => families.series(labels), isServed);
  const runningReads = families.inFlight.labels({ request_kind: "readOnly" });
  const runningWrites = families.inFlight.labels({ request_kind: "mutating" });
  const lateEnds = childrenBy((end: string) => families.lateEnds.labels({ source: "timeout-handler", status: end }));
  return {
    observeRequest: (exchange, finished) => families.count(series.of(exchange), exchange, finished),
    longRunning(exchange, change) {
      const found = series.of(exchange, longRunningScope);
      found.longRunning ??= families.longRunning.labels(withoutDryRun(found.labels));
      found.longRunning.value += change;
    },
    inFlight(kind: RequestKind, running: number) {
      (kind === "readOnly" ? runningReads : runningWrites).value = running;
    },
    endedLate: (end) => void lateEnds(end).value++,
  };
}

class RequestFamilies {
  readonly requests = new BoundCounter("apiserver_request_total", "Requests by verb, resource and response code.");
  readonly durations = new BoundHistogram(
    "apiserver_request_duration_seconds",
    "Time from the receipt of a request to its response.",
    durationBuckets,
  );
  readonly promised = new BoundHistogram(
    "apiserver_request_sli_duration_seconds",
    "Time from the receipt of a request to its response, less the time in queues and webhooks.",
    promisedBuckets,
  );
  readonly sizes = new BoundHistogram("apiserver_response_sizes", "Size of responses to reads in bytes.", sizeBuckets);
  readonly bodies = new BoundHistogram(
    "apiserver_request_body_size_bytes",
    "Size of the bodies of requests in bytes.",
    bodyBuckets,
  );
  readonly longRunning = new BoundCounter(
    "apiserver_longrunning_requests",
    "Running requests without a deadline, by verb and resource.",
    "gauge",
  );
  readonly inFlight = new BoundCounter(
    "apiserver_current_inflight_requests",
    "Running requests with a deadline, by kind.",
    "gauge",
  );
  readonly terminations = new BoundCounter(
    "apiserver_request_terminations_total",
    "Requests that the server rejected or aborted to protect itself.",
  );
  readonly aborts = new BoundCounter(
    "apiserver_request_aborts_total",
    "Requests that their clients closed before the response.",
  );
  readonly lateEnds = new BoundCounter(
    "apiserver_request_post_timeout_total",
    "Requests that continued after their deadline, by outcome.",
  );
  readonly validations = new BoundHistogram(
    "field_validation_request_duration_seconds",
    "Time from the receipt of a request to its response, by field validation.",
    promisedBuckets,
  );
  readonly all = [
    this.requests,
    this.durations,
    this.promised,
    this.sizes,
    this.bodies,
    this.longRunning,
    this.inFlight,
    this.terminations,
    this.aborts,
    this.lateEnds,
    this.validations,
  ];
  /** Series that differ in other labels share a child. */
  readonly #bodyOf = childrenBy((key: string) => {
    const [resource = "", verb = "", group = ""] = key.split(" ");
    return this.bodies.labels({ resource, verb, group });
  });
  readonly #byValidation = childrenBy((value: string) => this.validations.labels({ field_validation: value }));

  series(labels: RequestLabels): Series {
    return { labels, duration: this.durations.labels({ ...labels }), codes: new Map() };
  }

  count(series: Series, exchange: Exchange, { code, seconds, responseBytes }: FinishedRequest): void {
    const { labels } = series;
    let counter = series.codes.get(code);
    if (counter === undefined) {
      counter = this.requests.labels({ ...labels, code: String(code) });
      series.codes.set(code, counter);
    }
    counter.value++;
    series.duration.observe(seconds);
    if (labels.dry_run === "") {
      series.promised ??= this.promised.labels(withoutDryRun(labels));
      series.promised.observe(seconds - ((exchange.webhookMs ?? 0) + (exchange.queuedMs ?? 0)) / 1_000);
    }
    this.#byValidation(validationLabel(exchange)).observe(seconds);
    if (responseBytes !== undefined && (labels.verb === "GET" || labels.verb === "LIST")) {
      series.size ??= this.sizes.labels(withoutDryRun(labels));
      series.size.observe(responseBytes);
    }
    const { bodyBytes } = exchange.request;
    if (bodyBytes !== undefined && labels.resource !== "") this.#countBody(series, exchange, bodyBytes);
    if (code === clientClosedCode) this.#countAbort(series);
    if (exchange.isTerminated === true) this.#countTermination(series, code);
  }

  #countBody(series: Series, { info }: Exchange, bytes: number): void {
    const { group, resource } = series.labels;
    series.body ??= this.#bodyOf(`${resource} ${info.verb} ${group}`);
    series.body.observe(bytes);
  }

  #countAbort(series: Series): void {
    const { dry_run: _dryRun, component: _component, ...labels } = series.labels;
    series.aborts ??= this.aborts.labels(labels);
    series.aborts.value++;
  }

  #countTermination(series: Series, code: number): void {
    series.terminations ??= new Map();
    let counter = series.terminations.get(code);
    if (counter === undefined) {
      counter = this.terminations.labels({
        ...withoutDryRun(series.labels),
        component: "apiserver",
        code: String(code),
      });
      series.terminations.set(code, counter);
    }
    counter.value++;
  }
}

function withoutDryRun({ dry_run: _dryRun, ...labels }: RequestLabels): Omit<RequestLabels, "dry_run"> {
  return labels;
}

const validations = new Set(["", "Ignore", "Warn", "Strict"]);

function validationLabel({ info }: Exchange): string {
  const values = info.query.get("fieldValidation");
  if (values === undefined) return "";
  const [value = ""] = values;
  return values.length === 1 && validations.has(value) ? value : "invalid";
}
