import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { answerHead } from "../../client/answer-head.ts";
import { authorityOf, dialErrorText } from "../../client/dial-error.ts";
import { groupedHeaders, headerPairs } from "../../client/header-pairs.ts";
import type { IncomingRequest, StreamReply } from "../../request/exchange.ts";
import { type Backend, forwardedHeaders, returnedHeaders, tlsOptions } from "./backend.ts";
import { copyBody } from "./copy-body.ts";

const bodilessMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** The answer of a backend after its head has arrived. Redirects are passed to the client. */
export interface BackendAnswer {
  readonly code: number;
  readonly headers: [string, string][];
  readonly message: IncomingMessage;
}

/**
 * Forwards the client's request to `path` of the backend. Resolves with the head of the answer.
 * @throws Error with upstream's text, if the backend does not answer
 */
export async function ask(request: IncomingRequest, backend: Backend, path: string): Promise<BackendAnswer> {
  const { protocol, host, port } = backend;
  const body = bodilessMethods.has(request.method) ? undefined : await request.body();
  const length: [string, string][] = body === undefined ? [] : [["content-length", String(body.byteLength)]];
  const headers = groupedHeaders([["host", authorityOf(backend)], ...forwardedHeaders(request.headers), ...length]);
  const options = { host, port, method: request.method, path, headers, agent: false } as const;
  const sent = protocol === "http" ? requestHttp(options) : requestHttps({ ...options, ...tlsOptions(backend) });
  const head = answerHead(sent, protocol === "http" ? "connect" : "secureConnect", request.signal);
  sent.end(body);
  const message = await head.catch((error: Error) => {
    throw new Error(dialErrorText(error, backend));
  });
  return { code: message.statusCode ?? 502, headers: returnedHeaders(headerPairs(message.rawHeaders)), message };
}

/** Returns the answer for the client, which is read at the client's pace. */
export function passOn({ code, headers, message }: BackendAnswer): StreamReply {
  return { kind: "stream", code, headers, run: (sink) => copyBody(message, sink) };
}
