import Registry from "prom-client/lib/registry.js";
import { toBytes, toText } from "../../api/codec/byte-text.ts";
import type { SentRequest } from "../../client/webhook/webhook-client.ts";
import { reply } from "../../http/document-reply.ts";
import type { RequestMetrics } from "../../http/filters/request-metrics.ts";
import type { Exchange, Handler } from "../../request/exchange.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import { addMetrics } from "./add-metrics.ts";
import {
  BoundCounter,
  BoundHistogram,
  CollectedFamily,
  type CounterChild,
  childrenBy,
  type HistogramChild,
} from "./bound-metric.ts";
import { buildMetrics } from "./build-metrics.ts";
import { clientMetrics } from "./client-metrics.ts";
import { exposeMetrics, expositionType, resetMetrics, type Sample } from "./exposition.ts";
import { processMetrics } from "./process-metrics.ts";
import { requestMetrics } from "./request-metrics.ts";
import { selfRequestMetrics } from "./self-request-metrics.ts";

interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The server's metrics under upstream's names. Every label is bounded, so clients cannot create series at will. */
export interface Metrics extends RequestMetrics {
  readonly registry: Registry;
  /** Counts watch events. `bytes` is the total size of all `events`. */
  watchEvents(resource: GroupVersionResource, events: number, bytes: number): void;
  /** Records a request for a deprecated version. */
  deprecatedRequest(resource: GroupVersionResource, subresource: string, removedRelease: string): void;
  /** Records the time until a watch has sent its initial events. */
  watchListed(resource: GroupVersionResource, scope: string, seconds: number): void;
  /** Returns the histogram for the duration of a filter. Called once for each filter. */
  filterDuration(filter: string): HistogramChild;
  /** Counts a request that a client in this process makes to this server. */
  selfRequest(exchange: Exchange, code: number, seconds: number): void;
  /** Counts a request to another server. */
  sentRequest(request: SentRequest): void;
  /** Returns the text of `/metrics`. DELETE resets the counts. */
  readonly handle: Handler;
  /** Returns the text of this process's metrics. */
  expose(): Promise<Uint8Array[]>;
  /** Resets this process's counts. */
  reset(): void;
  /** Adds the metrics of further processes to the answers of `handle`. @param collect resets them first if asked */
  include(collect: (reset: boolean) => Promise<readonly string[]>): void;
}

export interface MetricsOptions {
  /** Reports whether a resource, and the subresource if given, is served. Other names never become labels. */
  readonly isServed: (info: ResourceRequest) => boolean;
}

const watchListBuckets = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];
const filterBuckets = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30];
const watchSizeBuckets = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];

/** The host of requests of clients in this process, which need none. */
const ownHost = "in-process";

export function createMetrics({ isServed }: MetricsOptions): Metrics {
  const registry = new Registry();
  const requests = requestMetrics(registry, isServed);
  const watches = watchEventMetrics(registry);
  const own = selfRequestMetrics(registry, isServed);
  const sent = clientMetrics(registry);
  const filters = new BoundHistogram(
    "apiserver_request_filter_duration_seconds",
    "Duration of a filter for a request.",
    filterBuckets,
  );
  filters.register(registry);
  const deprecated = new Map<string, Sample>();
  new CollectedFamily(
    "apiserver_requested_deprecated_apis",
    "Deprecated versions that were requested, by resource and the release that removes them.",
    "gauge",
    () => deprecated.values(),
  ).register(registry);
  buildMetrics(registry);
  processMetrics(registry);
  const expose = () => exposeMetrics(registry);
  const reset = () => resetMetrics(registry);
  let collect: ((reset: boolean) => Promise<readonly string[]>) | undefined;
  return {
    ...requests,
    registry,
    watchEvents: watches,
    watchListed: watchListMetrics(registry),
    sentRequest: sent,
    selfRequest(exchange, code, seconds) {
      own(exchange);
      const { method } = exchange.request;
      sent({ method, host: ownHost, code, seconds, requestBytes: undefined, responseBytes: undefined });
    },
    expose,
    reset,
    include(further) {
      collect = further;
    },
    filterDuration: (filter) => filters.labels({ filter }),
    deprecatedRequest({ group, version, resource }, subresource, removedRelease) {
      const key = `${group}/${version}/${resource}/${subresource}`;
      if (deprecated.has(key)) return;
      deprecated.set(key, [{ group, version, resource, subresource, removed_release: removedRelease }, 1]);
    },
    handle: async ({ request }) => {
      if (request.method === "DELETE") {
        reset();
        await collect?.(true);
        return reply(toBytes("metrics reset\n"), [["content-type", "text/plain; charset=utf-8"]]);
      }
      const [own, others = []] = await Promise.all([expose(), collect?.(false)]);
      const body = others.length === 0 ? own : toBytes(await addMetrics(own.map(toText).join(""), others));
      return { kind: "reply", code: 200, headers: [["content-type", expositionType]], body };
    },
  };
}

/** Registers the time until watches have sent their initial events; returns a function that records it. */
function watchListMetrics(registry: Registry): Metrics["watchListed"] {
  const durations = new BoundHistogram(
    "apiserver_watch_list_duration_seconds",
    "Time until a watch has sent its initial events.",
    watchListBuckets,
  );
  durations.register(registry);
  const childOf = childrenBy((key: string) => {
    const [group = "", version = "", resource = "", scope = ""] = key.split("/");
    return durations.labels({ group, version, resource, scope });
  });
  return ({ group, version, resource }, scope, seconds) =>
    childOf(`${group}/${version}/${resource}/${scope}`).observe(seconds);
}

interface WatchSeries {
  readonly events: CounterChild;
  readonly sizes: HistogramChild;
}

/** Registers the metrics of watch events. Only served resources occur, so their number is bounded. */
function watchEventMetrics(registry: Registry): Metrics["watchEvents"] {
  const events = new BoundCounter("apiserver_watch_events_total", "Events sent to watchers.");
  const sizes = new BoundHistogram(
    "apiserver_watch_events_sizes",
    "Size of the events sent to watchers in bytes.",
    watchSizeBuckets,
  );
  for (const family of [events, sizes]) family.register(registry);
  const byResource = new Map<string, WatchSeries>();
  return ({ group, version, resource }, count, bytes) => {
    const key = `${group}/${version}/${resource}`;
    let series = byResource.get(key);
    if (series === undefined) {
      const labels = { group, version, resource };
      series = { events: events.labels(labels), sizes: sizes.labels(labels) };
      byResource.set(key, series);
    }
    series.events.value += count;
    series.sizes.observe(bytes / count, count);
  };
}
