import type { Readable } from "node:stream";
import { StatusError, TextError } from "../../api/status.ts";
import {
  type AggregatedBackends,
  type BackendAnswer,
  BackendError,
  type BackendRequest,
} from "../../client/aggregation/aggregated-backend.ts";
import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import { Deadline } from "../../client/deadline.ts";
import { authorityOf } from "../../client/dial-error.ts";
import type { Endpoint } from "../../client/service-endpoints.ts";
import type { Clock } from "../../process/clock.ts";
import type { ByteSink, Exchange, HttpResponse, StreamReply } from "../../request/exchange.ts";
import type { Query } from "../../request/request-info.ts";
import { copyBody } from "../connect/copy-body.ts";
import { tunnel } from "../connect/tunnel.ts";
import { textReply } from "../error-response.ts";
import { answeredHeaders, declaredLength, isReturned, proxiedHeaders } from "./proxied-headers.ts";

/** Time limit for a discovery document, which clients request for every group. */
const discoveryMs = 5_000;
const discoverySegments = 3;

export interface ProxyParts {
  readonly backends: Pick<AggregatedBackends, "resolve" | "tlsOf" | "headersFor" | "send">;
  readonly clock: Clock;
  /** The name of this server in Via. */
  readonly serverId: string;
  /** Whether to refuse redirects in place of forwarding them. */
  readonly refusesRedirects: boolean;
}

/** Forwards a request to the service of its group version. @throws TextError */
export async function proxyRequest(exchange: Exchange, remote: RemoteApi, parts: ProxyParts): Promise<HttpResponse> {
  const { request } = exchange;
  if (isReturned(request, parts.serverId)) throw refusal(exchange, 508, "loop detected");
  try {
    if (request.upgraded !== undefined) return await upgrade(exchange, remote, parts);
    return await forward(exchange, remote, parts);
  } catch (error) {
    if (error instanceof BackendError) throw answerTo(error, exchange);
    throw error;
  }
}

/** Returns the answer to a request for a service that is not available. */
export function unavailable(exchange: Exchange): TextError {
  return refusal(exchange, 503, "service unavailable");
}

function answerTo({ reason, message }: BackendError, exchange: Exchange): TextError {
  switch (reason) {
    case "unresolved":
      return unavailable(exchange);
    case "unusable":
      return refusal(exchange, 500, message);
    case "unreachable":
      return new TextError(503, `error trying to reach service: ${message}\n`);
  }
}

function refusal(exchange: Exchange, code: number, text: string): TextError {
  exchange.isTerminated = true;
  return new TextError(code, `${text}\n`);
}

async function forward(exchange: Exchange, remote: RemoteApi, parts: ProxyParts): Promise<HttpResponse> {
  const { request, user } = exchange;
  const body = request.bodyStream;
  const at = parts.backends.resolve(remote);
  const outgoing: Omit<BackendRequest, "signal"> = {
    method: request.method,
    target: targetOf(exchange),
    headers: [...headersOf(exchange, parts, authorityOf(at)), ...(body === undefined ? [] : declaredLength(request))],
    body,
    user,
  };
  const answer = await sendInTime(exchange, remote, outgoing, at, parts);
  // The backend does the work now, so the request returns its seats.
  exchange.onStateSent?.();
  const { code } = answer;
  if (parts.refusesRedirects && code >= 300 && code <= 399 && answer.headers.some(([name]) => name === "location")) {
    answer.body.destroy();
    return textReply(502, "the backend attempted to redirect this request, which is not permitted");
  }
  return passOn(answer, exchange, parts.clock);
}

async function sendInTime(
  exchange: Exchange,
  remote: RemoteApi,
  outgoing: Omit<BackendRequest, "signal">,
  at: Endpoint,
  { backends, clock }: ProxyParts,
): Promise<BackendAnswer> {
  const { request } = exchange;
  if (!isDiscovery(exchange)) return backends.send(remote, { ...outgoing, signal: request.signal }, at);
  using deadline = new Deadline(clock, discoveryMs, request.signal);
  try {
    return await backends.send(remote, { ...outgoing, signal: deadline.signal }, at);
  } catch (error) {
    request.signal.throwIfAborted();
    if (deadline.signal.aborted) throw new BackendError("unreachable", "context deadline exceeded");
    throw error;
  }
}

function isDiscovery({ info }: Exchange): boolean {
  const segments = info.path.split("/").filter((segment) => segment !== "");
  return info.kind === "nonResource" && segments.length === discoverySegments;
}

function headersOf({ request, auditId }: Exchange, { serverId }: ProxyParts, host?: string): [string, string][] {
  return proxiedHeaders(request, { auditId, via: serverId, host });
}

/**
 * Returns the path byte for byte, and the query as parsed here, so that the backend receives exactly the request that was
 * authorized.
 */
function targetOf({ request, info }: Exchange): string {
  const path = request.rawPath.split("?", 1)[0] ?? "";
  const query = encodedQuery(info.query);
  return query === "" ? path : `${path}?${query}`;
}

function encodedQuery(query: Query): string {
  return [...query]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, values]) => values.map((value) => `${encoded(name)}=${encoded(value)}`))
    .join("&");
}

function encoded(text: string): string {
  const escaped = encodeURIComponent(text).replaceAll("%20", "+");
  return escaped.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns the answer for the client, read at the client's pace, up to the deadline of the request. */
function passOn({ code, headers, body }: BackendAnswer, { deadlineMs }: Exchange, clock: Clock): StreamReply {
  const leftMs = deadlineMs === undefined ? undefined : Math.max(0, deadlineMs - clock.steadyMs());
  return { kind: "stream", code, headers: answeredHeaders(headers), run: (sink) => copy(body, sink, leftMs, clock) };
}

async function copy(body: Readable, sink: ByteSink, leftMs: number | undefined, clock: Clock): Promise<void> {
  using limit = new DisposableStack();
  if (leftMs !== undefined) {
    limit.use(clock.after(leftMs, () => body.destroy(new Error("the answer was not complete in time"))));
  }
  await copyBody(body, sink);
}

/** Hands the connection over to the service, if it agrees. */
async function upgrade(exchange: Exchange, remote: RemoteApi, parts: ProxyParts): Promise<HttpResponse> {
  const { request, user } = exchange;
  const { backends } = parts;
  if (request.upgraded === undefined) throw new Error("not a request to upgrade");
  const at = backends.resolve(remote);
  const tls = backends.tlsOf(remote);
  const headers = backends.headersFor(headersOf(exchange, parts), user);
  const backend = { protocol: "https", ...at, tls } as const;
  let response: HttpResponse;
  try {
    response = await tunnel(request, request.upgraded, backend, targetOf(exchange), headers);
  } catch (error) {
    if (error instanceof StatusError) throw new TextError(503, `${error.message}\n`);
    throw error;
  }
  if (response.code === 101 || response.code >= 400) return response;
  return textReply(503, `invalid upgrade response: status code ${response.code}\n`);
}
