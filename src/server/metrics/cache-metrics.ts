import type { Registry } from "prom-client";
import type { GroupResource } from "../../api/gvk.ts";
import type { CacheCounts } from "../../storage/cacher/cache-counts.ts";
import type { Cacher } from "../../storage/cacher/cacher.ts";
import { BoundHistogram, CollectedFamily, childrenBy } from "./bound-metric.ts";
import type { Sample } from "./exposition.ts";

export interface CachedResource {
  readonly info: GroupResource;
  readonly cacher: Pick<Cacher, "counts" | "size" | "bodyBytes" | "revision" | "eventsMax">;
}

type Read = (cacher: CachedResource["cacher"]) => number;
type Count = (counts: CacheCounts) => number;

const waitBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3];
/** Truncated as upstream does, to fit a float. */
const revisionModulus = 1e15;

/**
 * Registers the counters that the caches keep, read at each scrape. A kind's series end when it is no longer served.
 * @param resources lists the cache of each served kind
 */
export function cacheMetrics(registry: Registry, resources: () => Iterable<CachedResource>): void {
  const gauge = (name: string, help: string, read: Read) => {
    byResource(registry, { name, help, type: "gauge", resources, read });
  };
  const counter = (name: string, help: string, count: Count) => {
    byResource(registry, { name, help, type: "counter", resources, read: ({ counts }) => count(counts) });
  };
  storedObjects(registry, resources);
  gauge("apiserver_resource_objects", "Stored objects by resource.", ({ size }) => size);
  gauge("apiserver_resource_size_estimate_bytes", "Size of the stored objects.", ({ bodyBytes }) => bodyBytes);
  gauge(
    "apiserver_watch_cache_resource_version",
    "Latest revision in the cache.",
    ({ revision }) => revision % revisionModulus,
  );
  gauge("watch_cache_capacity", "Maximum number of events in the cache.", ({ eventsMax }) => eventsMax);
  counter("apiserver_storage_events_received_total", "Events of the store.", ({ received }) => received);
  counter("apiserver_watch_cache_events_received_total", "Events that the cache received.", ({ received }) => received);
  counter(
    "apiserver_watch_cache_events_dispatched_total",
    "Events that the cache sent to watchers.",
    ({ dispatched }) => dispatched,
  );
  counter(
    "apiserver_watch_cache_initializations_total",
    "Times that the cache was initialized from the store.",
    ({ builds }) => builds,
  );
  counter(
    "apiserver_init_events_total",
    "Objects loaded when the cache was initialized.",
    ({ builtFrom }) => builtFrom,
  );
  counter(
    "apiserver_terminated_watchers_total",
    "Watches closed because they fell too far behind.",
    ({ expiredWatches }) => expiredWatches,
  );
  storageLists(counter);
  cacheLists(registry, resources);
  consistentReads(registry, resources);
}

function storageLists(counter: (name: string, help: string, count: Count) => void): void {
  const prefix = "apiserver_storage_list";
  const read: Count = ({ builtFrom, historyRead }) => builtFrom + historyRead;
  const returned: Count = ({ builtFrom, historyReturned }) => builtFrom + historyReturned;
  counter(`${prefix}_total`, "Lists answered from the store.", ({ builds, historyLists }) => builds + historyLists);
  counter(`${prefix}_fetched_objects_total`, "Objects read from the store for lists.", read);
  counter(`${prefix}_evaluated_objects_total`, "Objects of the store that were matched against a selector.", read);
  counter(`${prefix}_returned_objects_total`, "Objects returned in lists from the store.", returned);
}

function cacheLists(registry: Registry, resources: () => Iterable<CachedResource>): void {
  const prefix = "apiserver_cache_list";
  const family = (name: string, help: string, count: Count, more: Readonly<Record<string, string>>) => {
    const collect = function* (): Generator<Sample> {
      for (const { info, cacher } of resources()) {
        // As upstream does, omit resources that were never listed.
        if (cacher.counts.lists > 0) yield [{ ...more, ...labelsOf(info) }, count(cacher.counts)];
      }
    };
    new CollectedFamily(`${prefix}_${name}`, help, "counter", collect).register(registry);
  };
  const withIndex = { index: "" };
  family("total", "Lists answered from memory.", ({ lists }) => lists, withIndex);
  family("fetched_objects_total", "Objects in memory that lists examined.", ({ examined }) => examined, withIndex);
  family("returned_objects_total", "Objects returned in lists from memory.", ({ returned }) => returned, {});
}

function consistentReads(registry: Registry, resources: () => Iterable<CachedResource>): void {
  const collect = function* (): Generator<Sample> {
    for (const { info, cacher } of resources()) {
      const { consistentReads: done, failedConsistentReads: failed } = cacher.counts;
      const labels = { ...labelsOf(info), fallback: "false" };
      if (done > 0) yield [{ ...labels, success: "true" }, done];
      if (failed > 0) yield [{ ...labels, success: "false" }, failed];
    }
  };
  const name = "apiserver_watch_cache_consistent_read_total";
  new CollectedFamily(name, "Consistent lists answered from memory.", "counter", collect).register(registry);
}

/** Registers the time that lists wait for the cache; returns a function that records it. The resources are bounded. */
export function readWaitMetrics(registry: Registry): (resource: GroupResource, seconds: number) => void {
  const waits = new BoundHistogram(
    "apiserver_watch_cache_read_wait_seconds",
    "Time that lists waited for the cache to be fresh enough.",
    waitBuckets,
  );
  waits.register(registry);
  const groups = childrenBy((group: string) => childrenBy((resource: string) => waits.labels({ group, resource })));
  return ({ group, resource }, seconds) => groups(group)(resource).observe(seconds);
}

interface ResourceFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly resources: () => Iterable<CachedResource>;
  readonly read: Read;
}

function byResource(registry: Registry, { name, help, type, resources, read }: ResourceFamily): void {
  const collect = function* (): Generator<Sample> {
    for (const { info, cacher } of resources()) yield [labelsOf(info), read(cacher)];
  };
  new CollectedFamily(name, help, type, collect).register(registry);
}

function storedObjects(registry: Registry, resources: () => Iterable<CachedResource>): void {
  const collect = function* (): Generator<Sample> {
    for (const { info, cacher } of resources()) {
      yield [{ resource: info.group === "" ? info.resource : `${info.resource}.${info.group}` }, cacher.size];
    }
  };
  new CollectedFamily("apiserver_storage_objects", "Stored objects by resource.", "gauge", collect).register(registry);
}

function labelsOf({ group, resource }: GroupResource): { group: string; resource: string } {
  return { group, resource };
}
