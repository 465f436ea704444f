import type { RequestAuthenticator } from "../../access/authentication/authenticator.ts";
import type { Authorizer } from "../../access/authorization/authorizer.ts";
import type { Clock } from "../../process/clock.ts";
import type { Eventual } from "../../process/eventual.ts";
import type { Exchange, Filter, Finish, Handler, HttpResponse, IncomingRequest } from "../../request/exchange.ts";
import { anonymousUser } from "../../request/user-info.ts";
import { compression } from "../compression.ts";
import type { EncodeStatus } from "../error-response.ts";
import { Lifecycle } from "../lifecycle.ts";
import { unparsedRequest } from "../parse-request-info.ts";
import { auditId } from "./audit-id.ts";
import { authentication } from "./authentication.ts";
import { authorization } from "./authorization.ts";
import { draining } from "./draining.ts";
import { errorAnswers } from "./errors.ts";
import { type FlowControlParts, flowControl } from "./flow-control.ts";
import { type MaxInFlightOptions, maxInFlight } from "./max-in-flight.ts";
import { requestDeadline } from "./request-deadline.ts";
import { requestInfo } from "./request-info.ts";
import { type OnRequest, requestLog } from "./request-log.ts";
import { type RequestMetrics, requestMetrics } from "./request-metrics.ts";
import { responseHeaders } from "./response-headers.ts";

const requestTimeoutMsDefault = 60_000;

export interface ChainOptions {
  readonly clock: Clock;
  readonly authenticator: RequestAuthenticator;
  readonly authorizer: Authorizer;
  readonly lifecycle?: Lifecycle | undefined;
  readonly requestTimeoutMs?: number | undefined;
  readonly maxInFlight?: MaxInFlightOptions | undefined;
  /** Priority and fairness. It replaces the limits in `maxInFlight`, which then only counts. */
  readonly flowControl?: Omit<FlowControlParts, "clock" | "requestTimeoutMs"> | undefined;
  readonly metrics?: RequestMetrics | undefined;
  readonly encodeStatus?: EncodeStatus | undefined;
  readonly newAuditId?: (() => string) | undefined;
  readonly onRequest?: OnRequest | undefined;
  readonly onFault?: ((error: unknown, exchange: Exchange) => void) | undefined;
  /** Filters that need the user: audit, impersonation. */
  readonly afterAuthentication?: readonly Filter[] | undefined;
  /** Filters that see the answer before it is compressed: audit. */
  readonly onAnswer?: readonly Finish[] | undefined;
}

/** Returns the filters around `handler` as one function from request to response. It never rejects with a filter's error. */
export function buildChain(
  options: ChainOptions,
  handler: Handler,
): (request: IncomingRequest) => Eventual<HttpResponse> {
  const { clock, metrics, onRequest } = options;
  const requestTimeoutMs = options.requestTimeoutMs ?? requestTimeoutMsDefault;
  const fairness = options.flowControl;
  const limits = fairness === undefined ? (options.maxInFlight ?? {}) : { readOnly: 0, mutating: 0 };
  const onChange = options.maxInFlight?.onChange ?? metrics?.inFlight;

  // The filters on the way in, outermost first. These two lists alone decide the order.
  const filters: readonly Filter[] = [
    auditId(options.newAuditId ?? (() => crypto.randomUUID())),
    requestInfo,
    draining(options.lifecycle ?? new Lifecycle()),
    requestDeadline({ clock, timeoutMs: requestTimeoutMs, onLate: metrics?.endedLate }),
    authentication(options.authenticator),
    ...(options.afterAuthentication ?? []),
    ...(fairness === undefined ? [] : [flowControl({ ...fairness, clock, requestTimeoutMs })]),
    maxInFlight({ ...limits, onChange }),
    authorization(options.authorizer),
  ];
  const enter = filters.reduceRight<Handler>((next, filter) => filter(next), handler);
  const answerTo = errorAnswers(options);
  // The filters on the way out, for answers and errors alike.
  const finishes: readonly Finish[] = [
    ...(options.onAnswer ?? []),
    compression,
    responseHeaders,
    ...(metrics === undefined ? [] : [requestMetrics(clock, metrics)]),
    ...(onRequest === undefined ? [] : [requestLog(clock, onRequest)]),
  ];

  const finishFrom = (first: number, exchange: Exchange, answer: HttpResponse): Eventual<HttpResponse> => {
    let response = answer;
    for (let at = first; at < finishes.length; at++) {
      const finished = (finishes[at] as Finish)(exchange, response);
      if (finished instanceof Promise) return finished.then((later) => finishFrom(at + 1, exchange, later));
      response = finished;
    }
    return response;
  };

  return (request) => {
    const exchange = newExchange(request, clock);
    let response: Eventual<HttpResponse>;
    try {
      response = enter(exchange);
    } catch (error) {
      response = answerTo(error, exchange);
    }
    if (!(response instanceof Promise)) return finishFrom(0, exchange, response);
    return response.then(
      (answer) => finishFrom(0, exchange, answer),
      (error: unknown) => finishFrom(0, exchange, answerTo(error, exchange)),
    );
  };
}

function newExchange(request: IncomingRequest, clock: Clock): Exchange {
  return {
    request,
    receivedMs: clock.nowMs(),
    startedMs: clock.steadyMs(),
    auditId: "",
    info: unparsedRequest,
    user: anonymousUser,
    warnings: [],
    responseHeaders: [],
    audit: undefined,
  };
}
