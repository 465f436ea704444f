import Gauge from "prom-client/lib/gauge.js";
import Registry from "prom-client/lib/registry.js";
import { type Exchange, type Handler, header } from "../../request/exchange.ts";
import type { RequestKind } from "../../http/filters/max-in-flight.ts";
import type { RequestMetrics } from "../../http/filters/request-metrics.ts";
import { queryValue, type ResourceRequest } from "../../request/request-info.ts";
import { BoundCounter, BoundHistogram, type CounterChild, type HistogramChild } from "./bound-metric.ts";

/** The limit on combinations of request labels. Further ones are counted as `other`. */
export const requestSeriesMax = 4096;

interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The server's metrics under upstream's names. Every label is bounded, so clients cannot create series at will. */
export interface Metrics extends RequestMetrics {
  readonly registry: Registry;
  /** Counts watch events. `bytes` is the size of all `events` together. */
  watchEvents(resource: GroupVersionResource, events: number, bytes: number): void;
  /** Notes a request for a deprecated version. */
  deprecatedRequest(resource: GroupVersionResource, subresource: string, removedRelease: string): void;
  /** Registers the source for the number of stored objects, called whenever metrics are read. */
  trackStorageObjects(count: () => Iterable<readonly [groupResource: string, objects: number]>): void;
  /** Returns the text of `GET /metrics`. */
  readonly handle: Handler;
}

export interface MetricsOptions {
  /** Reports whether a resource is served. Other names never become labels. */
  readonly isServed: (info: ResourceRequest) => boolean;
}

const requestLabels = ["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"] as const;
type RequestLabel = (typeof requestLabels)[number];
type RequestLabelValues = Record<RequestLabel, string>;

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const sizeBuckets = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const watchSizeBuckets = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];

export function createMetrics({ isServed }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new BoundCounter("apiserver_request_total", "Requests by verb, resource and response code.");
  const durations = new BoundHistogram(
    "apiserver_request_duration_seconds",
    "Time from the receipt of a request to its response.",
    durationBuckets,
  );
  const sizes = new BoundHistogram("apiserver_response_sizes", "Size of responses in bytes.", sizeBuckets);
  const longRunning = new Gauge({
    name: "apiserver_longrunning_requests",
    help: "Running requests without a deadline, by verb and resource.",
    labelNames: requestLabels,
    registers,
  });
  const inFlightNow: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  const inFlight: Gauge<"request_kind"> = new Gauge({
    name: "apiserver_current_inflight_requests",
    help: "Running requests with a deadline, by kind.",
    labelNames: ["request_kind"],
    registers,
    // Set when metrics are read, because setting a gauge costs more than all other counting per request.
    collect() {
      for (const [kind, running] of Object.entries(inFlightNow)) inFlight.set({ request_kind: kind }, running);
    },
  });
  const deprecated = new Gauge({
    name: "apiserver_requested_deprecated_apis",
    help: "Requested deprecated versions, by resource and the release that removes them.",
    labelNames: ["group", "version", "resource", "subresource", "removed_release"],
    registers,
  });
  const watchEvents = new BoundCounter("apiserver_watch_events_total", "Events sent to watchers.");
  const watchSizes = new BoundHistogram(
    "apiserver_watch_events_sizes",
    "Size of the events sent to watchers in bytes.",
    watchSizeBuckets,
  );
  for (const metric of [requests, durations, sizes, watchEvents, watchSizes]) metric.register(registry);

  const seriesOf = boundSeries(
    (labels) => ({
      labels,
      duration: durations.labels(labels),
      size: sizes.labels(labels),
      longRunning: longRunning.labels(labels),
      codes: new Map<number, CounterChild>(),
    }),
    isServed,
  );
  const watchSeries = new Map<string, { events: CounterChild; sizes: HistogramChild }>();

  return {
    registry,
    observeRequest(exchange, { code, seconds, responseBytes }) {
      const series = seriesOf(exchange);
      let counter = series.codes.get(code);
      if (counter === undefined) {
        counter = requests.labels({ ...series.labels, code: String(code) });
        series.codes.set(code, counter);
      }
      counter.value++;
      if (!untimedVerbs.has(series.labels.verb)) series.duration.observe(seconds);
      if (responseBytes !== undefined) series.size.observe(responseBytes);
    },
    longRunning: (exchange, change) => seriesOf(exchange).longRunning.inc(change),
    inFlight(kind, running) {
      inFlightNow[kind] = running;
    },
    watchEvents(resource, events, bytes) {
      const key = `${resource.group}/${resource.version}/${resource.resource}`;
      let series = watchSeries.get(key);
      if (series === undefined) {
        const { group, version, resource: plural } = resource;
        const labels = { group, version, resource: plural };
        series = { events: watchEvents.labels(labels), sizes: watchSizes.labels(labels) };
        watchSeries.set(key, series);
      }
      series.events.value += events;
      for (let i = 0; i < events; i++) series.sizes.observe(bytes / events);
    },
    deprecatedRequest({ group, version, resource }, subresource, removedRelease) {
      deprecated.set({ group, version, resource, subresource, removed_release: removedRelease }, 1);
    },
    trackStorageObjects(count) {
      const objects: Gauge = new Gauge({
        name: "apiserver_storage_objects",
        help: "Stored objects by resource.",
        labelNames: ["resource"],
        registers,
        collect() {
          objects.reset();
          for (const [resource, number] of count()) objects.set({ resource }, number);
        },
      });
    },
    handle: async () => ({
      kind: "reply",
      code: 200,
      headers: [["content-type", registry.contentType]],
      body: new TextEncoder().encode(await registry.metrics()),
    }),
  };
}

interface Series {
  readonly labels: RequestLabelValues;
  readonly duration: HistogramChild;
  readonly size: HistogramChild;
  readonly longRunning: Gauge.Internal<RequestLabel>;
  readonly codes: Map<number, CounterChild>;
}

/**
 * Binds labels to children once per combination. Combinations beyond the bound share one child. Requests are looked up by
 * their own values, and labels are made only for new combinations. Names that are not served are never kept.
 */
function boundSeries(
  create: (labels: RequestLabelValues) => Series,
  isServed: (info: ResourceRequest) => boolean,
): (exchange: Exchange) => Series {
  const known = new Map<string, Series>();
  const seriesOf = (wanted: RequestLabelValues): Series => {
    const found = known.get(keyOf(wanted));
    if (found !== undefined) return found;
    const labels = known.size < requestSeriesMax ? wanted : overflowLabels;
    const series = known.get(keyOf(labels)) ?? create(labels);
    known.set(keyOf(labels), series);
    return series;
  };
  return (exchange) => {
    const { info } = exchange;
    if (info.kind === "nonResource") return seriesOf(pathLabels(info.verb));
    const labels = resourceLabels(exchange, info);
    return known.get(keyOf(labels)) ?? seriesOf(isServed(info) ? labels : { ...noLabels, verb: labels.verb });
  };
}

const noLabels: RequestLabelValues = {
  verb: "other",
  dry_run: "",
  group: "",
  version: "",
  resource: "",
  subresource: "",
  scope: "",
  component: "apiserver",
};
const overflowLabels: RequestLabelValues = { ...noLabels, resource: "other" };

function keyOf(labels: RequestLabelValues): string {
  const { verb, dry_run: dryRun, group, version, resource, subresource, scope } = labels;
  return `${verb} ${dryRun} ${group} ${version} ${resource} ${subresource} ${scope}`;
}

const methodVerbs = new Set(["get", "head", "post", "put", "patch", "delete", "options"]);
const resourceVerbs = new Map([
  ["create", "POST"],
  ["update", "PUT"],
  ["proxy", "CONNECT"],
]);
/** Verbs whose duration is up to the client. */
const untimedVerbs = new Set(["WATCH", "CONNECT"]);
const connectSubresources = new Set(["attach", "exec", "portforward", "proxy"]);
const applyMediaTypes = ["application/apply-patch+yaml", "application/apply-patch+cbor"];

function pathLabels(verb: string): RequestLabelValues {
  return methodVerbs.has(verb) ? { ...noLabels, verb: verb.toUpperCase() } : noLabels;
}

function resourceLabels(exchange: Exchange, info: ResourceRequest): RequestLabelValues {
  return {
    verb: verbLabel(exchange, info),
    dry_run: queryValue(info.query, "dryRun") === "All" ? "All" : "",
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    scope: info.name !== "" && info.nameInPath ? "resource" : info.namespace === "" ? "cluster" : "namespace",
    component: "apiserver",
  };
}

function verbLabel({ request }: Exchange, info: ResourceRequest): string {
  if (connectSubresources.has(info.subresource)) return "CONNECT";
  if (info.verb === "patch") {
    const type = header(request, "content-type") ?? "";
    return applyMediaTypes.some((apply) => type.startsWith(apply)) ? "APPLY" : "PATCH";
  }
  return resourceVerbs.get(info.verb) ?? info.verb.toUpperCase();
}
