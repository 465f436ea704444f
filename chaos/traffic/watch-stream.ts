import type { Cluster } from "../cluster/cluster.ts";
import { Connection, NoAnswerError, NotSentError } from "../cluster/connection.ts";
import type { WatchEvent, WatchRecord } from "../history/watch-record.ts";
import { observe, path } from "./config-map.ts";
import { messageOf } from "./recording-client.ts";

export interface WatchRequest {
  readonly member: number;
  readonly from: number;
  readonly color: string | undefined;
  readonly timeoutSeconds: number;
}

export type WatchEnd =
  /** The server ended it in order, or it was cut off. */
  | { readonly kind: "ended" }
  /** 410: the history from there on is compacted. */
  | { readonly kind: "expired" }
  | { readonly kind: "refused"; readonly code: number; readonly why: string };

interface Frame {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: { readonly code?: number; readonly message?: string; metadata: { resourceVersion: string } };
}

/** Time after the agreed end at which a silent server is abandoned. */
const graceMs = 3_000;

/** Opens one watch, and records its events until it ends or `stop` is signalled. */
export async function watch(
  cluster: Cluster,
  { member, from, color, timeoutSeconds }: WatchRequest,
  record: WatchRecord,
  stop: AbortSignal,
  onEvent: (event: WatchEvent) => void = () => {},
): Promise<WatchEnd> {
  const query = new URLSearchParams({
    watch: "1",
    resourceVersion: String(from),
    allowWatchBookmarks: "true",
    timeoutSeconds: String(timeoutSeconds),
    ...(color === undefined ? {} : { labelSelector: `color=${color}` }),
  });
  let end: WatchEnd = { kind: "ended" };
  let connection: Connection | undefined;
  const close = () => connection?.[Symbol.dispose]();
  const lines = new Lines();
  try {
    connection = await Connection.open(cluster.endpointOf(member));
    stop.addEventListener("abort", close, { once: true });
    if (stop.aborted) return end;
    let refusal = "";
    const code = await connection.stream(`${path}?${query}`, timeoutSeconds * 1000 + graceMs, (chunk, status) => {
      if (status !== 200) refusal += chunk.toString();
      else for (const line of lines.add(chunk)) end = take(JSON.parse(line) as Frame) ?? end;
    });
    if (code === 200) return end;
    return code === 410 ? { kind: "expired" } : { kind: "refused", code, why: messageOf(refusal) };
  } catch (error) {
    if (error instanceof NotSentError || error instanceof NoAnswerError) return end;
    throw error;
  } finally {
    stop.removeEventListener("abort", close);
    close();
  }

  function take({ type, object }: Frame): WatchEnd | undefined {
    if (type === "ERROR") {
      const code = object.code ?? 0;
      return code === 410 ? { kind: "expired" } : { kind: "refused", code, why: object.message ?? "" };
    }
    record.until = Math.max(record.until, Number(object.metadata.resourceVersion));
    if (type === "BOOKMARK") return undefined;
    const seen = observe(object);
    if (seen === undefined) return undefined;
    const { elements: _, ...observed } = seen;
    const event = { type, object: observed, seenMs: performance.now() };
    record.events.push(event);
    onEvent(event);
    return undefined;
  }
}

/** Assembles whole lines from pieces. */
class Lines {
  #rest = "";
  readonly #decoder = new TextDecoder();

  add(chunk: Buffer): string[] {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.filter((line) => line !== "");
  }
}
