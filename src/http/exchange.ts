import type { UserInfo } from "../authentication/user-info.ts";
import type { RequestInfo } from "./request-info.ts";

/** The client certificate of a connection, judged once at the handshake; `validToMs` is checked again for every request. */
export type PeerCertificate =
  | { readonly kind: "none" }
  | { readonly kind: "rejected"; readonly reason: string }
  | {
      readonly kind: "verified";
      readonly commonName: string;
      readonly organizations: readonly string[];
      readonly validFromMs: number;
      readonly validToMs: number;
      readonly fingerprint256: string;
    };

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** What the listener knows of a request. One per request; filters add what they learn to the Exchange. */
export interface IncomingRequest {
  readonly method: string;
  /** Byte-exact request target, starting with "/". */
  readonly rawPath: string;
  /** Lower-case names, repeated ones separate, in order. */
  readonly headers: HeaderList;
  readonly peer: PeerCertificate;
  readonly remoteAddress: string;
  readonly httpVersion: "1.1" | "2";
  /** The whole body, at most the body limit. Rejects with a 413 StatusError beyond it. Read at most once. */
  body(): Promise<Uint8Array>;
  /** Aborted when the client is gone or the server gives up on the request. */
  readonly signal: AbortSignal;
  /** Aborts `signal`: the server gives up on the request (deadline). */
  abort?(reason: Error): void;
}

/** A finished response; `chunks` are written one after another with backpressure, never joined. */
export interface Reply {
  readonly kind: "reply";
  readonly code: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A response whose head goes out at once and whose body is written by `run` for as long as it likes (watch). */
export interface StreamReply {
  readonly kind: "stream";
  readonly code: number;
  readonly headers: HeaderList;
  /** Resolves when the body is complete; a rejection resets the stream. */
  run(sink: ByteSink): Promise<void>;
}

export type HttpResponse = Reply | StreamReply;

export interface ByteSink {
  /** False when the client does not keep up: stop writing until `drained()`. The buffer is not copied; do not change it. */
  write(chunk: Uint8Array): boolean;
  /** Resolves when the backlog is gone, or the sink is closed. */
  drained(): Promise<void>;
  /** Bytes accepted but not yet handed to the kernel. */
  readonly backlogBytes: number;
  /** Aborted when the client is gone, or the server is draining and the stream has to end cleanly. */
  readonly signal: AbortSignal;
}

/** One request on its way through the filters to its handler. Filters fill it in the order of chain.ts. */
export interface Exchange {
  readonly request: IncomingRequest;
  readonly receivedMs: number;
  auditId: string;
  info: RequestInfo;
  user: UserInfo;
  /** Texts for Warning headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Extra response headers. */
  readonly responseHeaders: [string, string][];
}

export type Handler = (exchange: Exchange) => Promise<HttpResponse>;
/** Wraps the next handler. The order of filters is in chain.ts and nowhere else. */
export type Filter = (next: Handler) => Handler;

/** First value of a header, undefined when absent. */
export function header(request: IncomingRequest, name: string): string | undefined {
  return request.headers.find(([key]) => key === name)?.[1];
}

/** All values of a header in order. */
export function headerValues(request: IncomingRequest, name: string): string[] {
  return request.headers.filter(([key]) => key === name).map(([, value]) => value);
}
