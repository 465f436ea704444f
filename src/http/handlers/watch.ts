import { frameEncoder } from "../../api/codec/encode-watch.ts";
import { contentTypeOf } from "../negotiate.ts";
import type { CacheWatcher, WatchOptions } from "../../storage/cacher/cacher.ts";
import { StatusError } from "../../api/status.ts";
import { selectionOf } from "../../registry/selection.ts";
import { toRevision } from "../../api/revision.ts";
import type { Store } from "../../storage/store.ts";
import type { ByteSink } from "../../request/exchange.ts";
import { negotiateFor, type VerbHandler } from "./endpoint.ts";
import { waitForVersion } from "./freshness.ts";
import { type ListOptions, parseListOptions } from "./list-options.ts";

/** GET with `watch`: the head goes out at once, then events until the deadline, the client or the server ends it. */
export const watch: VerbHandler = async (call) => {
  const { request, info, registry, parts } = call;
  const representation = negotiateFor(call, "watch");
  const options = parseListOptions(request.query, true);
  const selection = selectionOf(info, request.namespace, request.name, options);
  const encoder = frameEncoder(info, representation, parts.clock);
  const durationMs = watchDurationMs(options, parts.minRequestTimeoutMs, parts.randomInt);
  const start = (): CacheWatcher =>
    registry.cacher.watch({
      prefix: selection.prefix,
      ...(selection.key === undefined ? {} : { key: selection.key }),
      ...(selection.matches === undefined ? {} : { matches: selection.matches }),
      start: watchStart(options, parts.store),
      bookmarks: options.allowWatchBookmarks,
      deadlineMs: parts.clock.nowMs() + durationMs,
      encoder,
    });
  return {
    kind: "stream",
    code: 200,
    headers: [["content-type", contentTypeOf(representation, true)]],
    async run(sink: ByteSink): Promise<void> {
      try {
        if (sendsInitialState(options)) await waitForVersion(parts.store, options.resourceVersion);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        sink.write(encoder.error(error.status));
        return;
      }
      await start().run(sink);
    },
  };
};

/** Unset and `0` mean the state first; so does sendInitialEvents. */
function sendsInitialState({ sendInitialEvents, resourceVersion }: ListOptions): boolean {
  return sendInitialEvents ?? (resourceVersion ?? 0) === 0;
}

function watchStart(options: ListOptions, store: Store): WatchOptions["start"] {
  if (sendsInitialState(options)) return { kind: "initial", endBookmark: options.allowWatchBookmarks };
  return { kind: "after", revision: toRevision(options.resourceVersion || store.revision) };
}

function watchDurationMs(options: ListOptions, minimumMs: number, randomInt: (below: number) => number): number {
  if (options.timeoutSeconds > 0) return Math.min(options.timeoutSeconds, 2 ** 31) * 1000;
  return minimumMs + randomInt(minimumMs);
}
