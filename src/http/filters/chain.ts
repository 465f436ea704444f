import type { Clock } from "../../api/clock.ts";
import type { RequestAuthenticator } from "../../authentication/authenticator.ts";
import { anonymousUser } from "../../authentication/user-info.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import type { RequestRecord } from "../../observability/logs.ts";
import type { RequestMetrics } from "../../observability/metrics.ts";
import { compression } from "../compression.ts";
import type { EncodeStatus } from "../error-response.ts";
import type { Exchange, Filter, Handler, HttpResponse, IncomingRequest } from "../exchange.ts";
import { Lifecycle } from "../lifecycle.ts";
import { unparsedRequest } from "../parse-request-info.ts";
import { auditId } from "./audit-id.ts";
import { authentication } from "./authentication.ts";
import { authorization } from "./authorization.ts";
import { cacheControl } from "./cache-control.ts";
import { draining } from "./draining.ts";
import { errors } from "./errors.ts";
import { type MaxInFlightOptions, maxInFlight } from "./max-in-flight.ts";
import { requestDeadline } from "./request-deadline.ts";
import { requestInfo } from "./request-info.ts";
import { requestLog } from "./request-log.ts";
import { requestMetrics } from "./request-metrics.ts";
import { responseHeaders } from "./response-headers.ts";
import { warnings } from "./warnings.ts";

const requestTimeoutMsDefault = 60_000;

export interface ChainOptions {
  readonly clock: Clock;
  readonly authenticator: RequestAuthenticator;
  readonly authorizer: Authorizer;
  readonly lifecycle?: Lifecycle | undefined;
  readonly requestTimeoutMs?: number | undefined;
  readonly maxInFlight?: MaxInFlightOptions | undefined;
  readonly metrics?: RequestMetrics | undefined;
  readonly encodeStatus?: EncodeStatus | undefined;
  readonly newAuditId?: (() => string) | undefined;
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  readonly onFault?: ((error: unknown, exchange: Exchange) => void) | undefined;
  /** Filters that need the user: audit, impersonation. */
  readonly afterAuthentication?: readonly Filter[] | undefined;
}

/** The filters around `handler`. */
export function buildChain(
  options: ChainOptions,
  handler: Handler,
): (request: IncomingRequest) => Promise<HttpResponse> {
  const { clock, metrics, onRequest } = options;
  const limits = options.maxInFlight ?? {};
  const onChange = limits.onChange ?? metrics?.inFlight;

  // Outermost first. This list is the only place where the order is decided.
  const filters: readonly Filter[] = [
    ...(onRequest === undefined ? [] : [requestLog(clock, onRequest)]),
    ...(metrics === undefined ? [] : [requestMetrics(metrics)]),
    auditId(options.newAuditId ?? (() => crypto.randomUUID())),
    responseHeaders,
    warnings,
    cacheControl,
    errors(options),
    compression,
    requestInfo,
    draining(options.lifecycle ?? new Lifecycle()),
    requestDeadline({ clock, timeoutMs: options.requestTimeoutMs ?? requestTimeoutMsDefault }),
    authentication(options.authenticator),
    ...(options.afterAuthentication ?? []),
    maxInFlight({ ...limits, onChange }),
    authorization(options.authorizer),
  ];

  const chain = filters.reduceRight<Handler>((next, filter) => filter(next), handler);
  return (request) => chain(newExchange(request, clock.nowMs()));
}

function newExchange(request: IncomingRequest, receivedMs: number): Exchange {
  return {
    request,
    receivedMs,
    auditId: "",
    info: unparsedRequest,
    user: anonymousUser,
    warnings: [],
    responseHeaders: [],
  };
}
