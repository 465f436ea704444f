import { listenPlain, type PlainListener } from "../../http/plain-listener.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { Address } from "./endpoint-options.ts";
import { requestHandler } from "./handle-request.ts";
import type { Health } from "./health.ts";
import type { Route } from "./route.ts";
import { disabledRoutes, healthRoutes, type RouteOptions, readOnlyRoutes } from "./routes.ts";
import type { RequestCounts } from "./stats/request-counts.ts";

const limits = { bodyBytes: 64 * 1024, connections: 256 };

/** The parts that a port without TLS shares with the endpoint. */
export interface PortParts {
  readonly options: RouteOptions;
  readonly health: Health;
  readonly counts: RequestCounts;
}

/** Opens the port that only has `/healthz`, for the machine's own supervisor. @throws Error if it cannot listen */
export function openHealthPort(address: Address, { options, health, counts }: PortParts): Promise<PlainListener> {
  return open(address, healthRoutes(health), options, counts);
}

/** Opens the port where anyone may read pods, statistics and metrics. @throws Error if it cannot listen */
export function openReadOnlyPort(address: Address, { options, health, counts }: PortParts): Promise<PlainListener> {
  const routes = [...readOnlyRoutes(options, health, counts), ...disabledRoutes()];
  return open(address, routes, options, counts);
}

function open(
  { host, port }: Address,
  routes: readonly Route[],
  { log, nodeNameOf }: RouteOptions,
  counts: RequestCounts,
): Promise<PlainListener> {
  const handle = requestHandler({ routes, access: undefined, counts, nodeNameOf });
  const onError = (error: unknown) => log.error("A request to the agent failed.", { error: thrownText(error) });
  return listenPlain({ host, port, handle, limits, onError });
}
