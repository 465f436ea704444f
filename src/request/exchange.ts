import type { Duplex } from "node:stream";
import type { Status } from "../api/status.ts";
import { annotate, type RequestNotes } from "./annotations.ts";
import type { UserInfo } from "./user-info.ts";
import type { RequestInfo } from "./request-info.ts";

/** The client certificate of a connection, judged once at the handshake; `validToMs` is checked again for every request. */
export type PeerCertificate =
  | { readonly kind: "none" }
  | { readonly kind: "rejected"; readonly reason: string }
  | {
      readonly kind: "verified";
      readonly commonName: string;
      /** The user's uid as the certificate gives it; absent where it gives none. */
      readonly uid?: string;
      readonly organizations: readonly string[];
      readonly validFromMs: number;
      readonly validToMs: number;
      readonly fingerprint256: string;
      /** Says which authority issued it; undefined where an intermediate did. */
      readonly issuer: string | undefined;
      /** Issued by the authority of authenticating proxies. */
      readonly isFrontProxy?: true;
    };

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** A request as the listener received it. Filters add what they learn to the Exchange. */
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
  /** Annotations that authentication adds to the audit event of the request. */
  auditNotes?: readonly (readonly [key: string, value: string])[];
  /** Set for a request that asks to leave HTTP. The handler that answers it with 101 owns the socket from then on. */
  upgraded?: UpgradedSocket;
}

export interface UpgradedSocket {
  readonly socket: Duplex;
  /** The bytes that the client has sent behind the head of its request. */
  readonly head: Uint8Array;
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
  /** On the monotonic clock. */
  readonly startedMs: number;
  auditId: string;
  info: RequestInfo;
  user: UserInfo;
  /** The sender, when `user` is somebody else; `constraint` is the verb that allowed it, "" for any. */
  impersonation?: { readonly by: UserInfo; readonly constraint: string };
  /** Texts for Warning headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Extra response headers. */
  readonly responseHeaders: [string, string][];
  /** The answer is an error of ours, not of the client. */
  failed?: boolean;
  /** The error that the answer reports, in any form. */
  refusal?: Status;
  /** Set where the request is audited. */
  audit: RequestNotes | undefined;
}

/** Answers at once where nothing has to be waited for: every promise between the socket and a handler costs microseconds. */
export type Handler = (exchange: Exchange) => HttpResponse | Promise<HttpResponse>;
/** Wraps the next handler on the way in. The order of filters is in chain.ts and nowhere else. */
export type Filter = (next: Handler) => Handler;
/** Handles every response on the way out, errors too. */
export type Finish = (exchange: Exchange, response: HttpResponse) => HttpResponse | Promise<HttpResponse>;

/** Adds an annotation to the audit event of the request, where there is one. */
export function annotateExchange({ audit }: Exchange, key: string, value: string): void {
  if (audit !== undefined) annotate(audit, key, value);
}

/** First value of a header, undefined when absent. */
export function header({ headers }: IncomingRequest, name: string): string | undefined {
  for (let at = 0; at < headers.length; at++) {
    const field = headers[at] as HeaderList[number];
    if (field[0] === name) return field[1];
  }
  return undefined;
}

/** All values of a header in order. */
export function headerValues(request: IncomingRequest, name: string): string[] {
  return request.headers.filter(([key]) => key === name).map(([, value]) => value);
}
