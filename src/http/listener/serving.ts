import type { Duplex } from "node:stream";
import type { Eventual } from "../../process/eventual.ts";
import type { HeaderList, HttpResponse, IncomingRequest, Reply } from "../../request/exchange.ts";
import type { ListenerLimits } from "./limits.ts";
import type { StreamSink } from "./stream-sink.ts";

/** The parts of the listener that both protocols need. */
export interface Serving {
  readonly limits: ListenerLimits;
  readonly sinks: Set<StreamSink>;
  readonly draining: boolean;
  handle(request: IncomingRequest): Eventual<HttpResponse>;
  onError(error: unknown): void;
  readonly upgrade: Upgrade | undefined;
}

/**
 * Answers a request to upgrade from HTTP.
 * @param track makes a stream's sink end when the listener drains
 */
export type Upgrade = (
  request: IncomingRequest,
  socket: Duplex,
  head: Buffer,
  track: (sink: StreamSink) => Disposable,
) => void;

/**
 * Appends header fields to `fields` in Node's form, repeated ones as lists. `connection` is separate, because HTTP/2
 * lacks this field.
 */
export function headerFields(
  list: HeaderList,
  fields: Record<string, string | string[]> = {},
): { fields: Record<string, string | string[]>; close: boolean } {
  let close = false;
  for (let at = 0; at < list.length; at++) {
    const [name, value] = list[at] as HeaderList[number];
    if (name === "connection") {
      close ||= value === "close";
      continue;
    }
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (typeof before === "string") fields[name] = [before, value];
    else before.push(value);
  }
  return { fields, close };
}

/** Returns the size of a complete body; undefined for a streamed one. */
export function knownLength(body: Reply["body"]): number | undefined {
  if (body instanceof Uint8Array) return body.byteLength;
  if (!Array.isArray(body)) return undefined;
  let bytes = 0;
  for (const chunk of body as readonly Uint8Array[]) bytes += chunk.byteLength;
  return bytes;
}

/** Responses with these codes have no body and no length. */
export function hasNoBody(code: number): boolean {
  return code === 204 || code === 304 || code < 200;
}
