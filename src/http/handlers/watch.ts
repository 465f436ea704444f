import { frameEncoder } from "../../api/codec/encode-watch.ts";
import { watchFrameLengthBytes } from "../../api/codec/protobuf.ts";
import type { Representation } from "../../api/codec/representation.ts";
import { toRevision } from "../../api/revision.ts";
import { StatusError, TextError } from "../../api/status.ts";
import { protobufMediaType } from "../../api/vendor.ts";
import { selectionOf } from "../../registry/selection.ts";
import { type ByteSink, header, type IncomingRequest } from "../../request/exchange.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import type { CacheWatcher, WatchOptions } from "../../storage/cacher/cacher.ts";
import type { Store } from "../../storage/store.ts";
import { contentTypeOf } from "../negotiate.ts";
import { webSocketEncoder, webSocketReply, webSocketRequest } from "../web-socket.ts";
import { negotiateFor, type VerbHandler, type WatchScope } from "./endpoint.ts";
import { waitForVersion } from "./freshness.ts";
import { type ListOptions, parseListOptions } from "./list-options.ts";
import { unreadableBelow } from "./unreadable-objects.ts";

/**
 * Answers GET with `watch`. Sends the head at once, then events until the deadline passes or the client or the server
 * ends the watch.
 */
export const watch: VerbHandler = async (call) => {
  const { request, info, registry, parts } = call;
  const representation = negotiateFor(call, "watch");
  const options = parseListOptions(request.query, info, true);
  const selection = selectionOf(info, request.namespace, request.name, options);
  unreadableBelow(registry.store, selection.prefix);
  const asked = webSocketRequest(call.exchange.request);
  if (asked !== undefined) requireOrigin(call.exchange.request);
  const frames = frameEncoder(info, representation, parts.clock);
  const encoder = asked === undefined ? frames : webSocketEncoder(frames, messageForm(representation));
  const durationMs = watchDurationMs(options, parts.minRequestTimeoutMs, parts.randomInt);
  const start = (): CacheWatcher =>
    registry.cacher.watch({
      prefix: selection.prefix,
      ...(selection.key === undefined ? {} : { key: selection.key }),
      ...(selection.matches === undefined ? {} : { matches: selection.matches }),
      pins: selection.pins,
      content: selection.content,
      start: watchStart(options, registry.store),
      bookmarks: options.allowWatchBookmarks,
      deadlineMs: parts.clock.steadyMs() + durationMs,
      encoder,
      onInitialSent: () => {
        call.exchange.onStateSent?.();
        if (options.sendInitialEvents !== true) return;
        const seconds = (parts.clock.steadyMs() - call.exchange.startedMs) / 1_000;
        parts.metrics?.watchListed(info, scopeOf(request), seconds);
      },
    });
  const run = async (sink: ByteSink): Promise<void> => {
    if (isListForm(representation)) return;
    try {
      if (sendsInitialState(options)) await waitForVersion(registry.store, options.resourceVersion);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      sink.write(encoder.error(error.status));
      return;
    }
    await start().run(sink);
  };
  if (asked !== undefined) return webSocketReply(asked, asked.protocols[0], run);
  return {
    kind: "stream",
    code: 200,
    headers: [["content-type", contentTypeOf(representation, true)]],
    run,
  };
};

function scopeOf({ name, namespace }: ResourceRequest): WatchScope {
  if (name !== "") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}

/** @throws TextError 403: upstream refuses watches over WebSocket without the header that browsers set */
function requireOrigin(request: IncomingRequest): void {
  if (!URL.canParse(header(request, "origin") ?? "")) throw new TextError(403, "");
}

/** An event cannot be written as a list, so such a watch ends without an event. */
function isListForm({ transform }: Representation): boolean {
  return transform.kind === "partialMetadata" && transform.list;
}

/** Each event is one message: text for JSON, binary otherwise. */
function messageForm({ mediaType }: Representation): Parameters<typeof webSocketEncoder>[1] {
  if (mediaType === "application/json") return { type: "text", lengthBytes: 0 };
  return { type: "binary", lengthBytes: mediaType === protobufMediaType ? watchFrameLengthBytes : 0 };
}

/** Reports whether the watch starts with the current state: without a version, at `0`, or with sendInitialEvents. */
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
