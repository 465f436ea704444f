import type { Duplex, Readable } from "node:stream";
import type { Status } from "../api/status.ts";
import { annotate, type RequestNotes } from "./annotations.ts";
import type { RequestInfo } from "./request-info.ts";
import type { UserInfo } from "./user-info.ts";

/** The client certificate of a connection, verified once at the handshake. `validToMs` is checked for every request. */
export type PeerCertificate =
  | { readonly kind: "none" }
  | { readonly kind: "rejected"; readonly reason: string }
  | {
      readonly kind: "verified";
      readonly commonName: string;
      /** The user's uid according to the certificate, if it has one. */
      readonly uid?: string;
      readonly organizations: readonly string[];
      readonly validFromMs: number;
      readonly validToMs: number;
      readonly fingerprint256: string;
      /** The authority that issued the certificate; undefined for an intermediate. */
      readonly issuer: string | undefined;
      /** Set if the authority of authenticating proxies issued the certificate. */
      readonly isFrontProxy?: true;
    };

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** A request as the listener knows it. Filters add their results to the Exchange. */
export interface IncomingRequest {
  readonly method: string;
  /** The byte-exact request target, starting with "/". */
  readonly rawPath: string;
  /** Headers in order, with names in lower case. A repeated header has an entry for each value. */
  readonly headers: HeaderList;
  readonly peer: PeerCertificate;
  readonly remoteAddress: string;
  readonly httpVersion: "1.1" | "2";
  /** Reads the whole body, at most once. Rejects with a 413 StatusError beyond the body limit. */
  body(): Promise<Uint8Array>;
  /** The body as it arrives, of any length, for a handler that passes it on; undefined without one. */
  readonly bodyStream?: Readable | undefined;
  /** Size of the body; undefined before it is read, and if it is not measured. */
  readonly bodyBytes?: number | undefined;
  /** Aborts when the client is gone or the server gives up on the request. */
  readonly signal: AbortSignal;
  /** True once `signal` has aborted. Asking makes no signal, which most requests do without. */
  readonly isAborted: boolean;
  /** Called when `signal` aborts, for a single caller that can do without a signal, which costs more. */
  onAbort?: ((reason: Error) => void) | undefined;
  /** Aborts `signal` because the server gives up on the request (deadline). */
  abort?(reason: Error): void;
  /** Annotations that authentication adds to the audit event of the request. */
  auditNotes?: readonly (readonly [key: string, value: string])[];
  /** Set for a request to leave HTTP. A handler that answers 101 owns the socket from then on. */
  upgraded?: UpgradedSocket;
}

export interface UpgradedSocket {
  readonly socket: Duplex;
  /** The bytes that the client sent after the head of its request. */
  readonly head: Uint8Array;
}

/** A finished response. The chunks of `body` are written one after another with backpressure, and never joined. */
export interface Reply {
  readonly kind: "reply";
  readonly code: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A response with a head that goes out at once, and a body that `run` writes for any length of time (watch). */
export interface StreamReply {
  readonly kind: "stream";
  readonly code: number;
  readonly headers: HeaderList;
  /** Writes the body, and resolves when it is complete. A rejection resets the stream. */
  run(sink: ByteSink): Promise<void>;
}

export type HttpResponse = Reply | StreamReply;

export interface ByteSink {
  /** Returns false if the client does not keep up; then wait for `drained()`. The buffer is not copied, so do not change it. */
  write(chunk: Uint8Array): boolean;
  /** Resolves when the backlog is gone, or the sink is closed. */
  drained(): Promise<void>;
  /** Bytes accepted but not yet handed to the kernel. */
  readonly backlogBytes: number;
  /** Aborts when the client is gone, or when the server drains and the stream has to end cleanly. */
  readonly signal: AbortSignal;
}

/** One request on its way to its handler. Filters fill it in the order of chain.ts. */
export interface Exchange {
  readonly request: IncomingRequest;
  /** In milliseconds since the epoch. */
  readonly receivedMs: number;
  /** The same moment on the steady clock, for durations. */
  readonly startedMs: number;
  auditId: string;
  info: RequestInfo;
  user: UserInfo;
  /** The real sender, if `user` is impersonated. `constraint` is the verb that allowed it, "" for any. */
  impersonation?: { readonly by: UserInfo; readonly constraint: string };
  /** The texts of Warning headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Time on the steady clock at which the request is aborted; undefined for one without a deadline. */
  deadlineMs?: number;
  /** Called when a watch has sent the state that it starts with. */
  onStateSent?: () => void;
  /** Extra response headers. */
  readonly responseHeaders: [string, string][];
  /** True if the answer is our error, not the client's. */
  failed?: boolean;
  /** True if the server refused or gave up the request to protect itself. */
  isTerminated?: boolean;
  /** Time that admission webhooks took. */
  webhookMs?: number;
  /** Time for which the request waited for its turn. */
  queuedMs?: number;
  /** The Status of an answer that is an error, in any format. */
  refusal?: Status;
  /** Set where the request is audited. */
  audit: RequestNotes | undefined;
}

/** Answers a request, synchronously if possible, because every promise between socket and handler costs microseconds. */
export type Handler = (exchange: Exchange) => HttpResponse | Promise<HttpResponse>;
/** Wraps the next handler on the way in. Only chain.ts defines the order of filters. */
export type Filter = (next: Handler) => Handler;
/** Processes every response on the way out, errors too. */
export type Finish = (exchange: Exchange, response: HttpResponse) => HttpResponse | Promise<HttpResponse>;

/** Adds an annotation to the audit event of the request, if there is one. */
export function annotateExchange({ audit }: Exchange, key: string, value: string): void {
  if (audit !== undefined) annotate(audit, key, value);
}

/** Returns the first value of a header, or undefined. */
export function header({ headers }: IncomingRequest, name: string): string | undefined {
  for (let at = 0; at < headers.length; at++) {
    const field = headers[at] as HeaderList[number];
    if (field[0] === name) return field[1];
  }
  return undefined;
}

/** Returns all values of a header in order. */
export function headerValues(request: IncomingRequest, name: string): string[] {
  return request.headers.filter(([key]) => key === name).map(([, value]) => value);
}
