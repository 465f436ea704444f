import type { ListenerTls } from "../../access/certificates/identity.ts";
import { serveUpgrades } from "../../http/connect/serve-upgrade.ts";
import { type ListenerLimits, listen } from "../../http/listener.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { endpointAccess } from "./endpoint-access.ts";
import type { EndpointOptions } from "./endpoint-options.ts";
import { requestHandler } from "./handle-request.ts";
import { Health } from "./health.ts";
import { openHealthPort, openReadOnlyPort } from "./plain-ports.ts";
import { endpointRoutes } from "./routes.ts";
import { RequestCounts } from "./stats/request-counts.ts";

/** The HTTPS endpoint of the agent, which the API server calls for logs, commands and connections. */
export interface Endpoint {
  readonly port: number;
  /** Ports without TLS; undefined for those that are not open. */
  readonly healthPort: number | undefined;
  readonly readOnlyPort: number | undefined;
  /** Uses a renewed certificate, or other authorities of clients, for new connections. */
  reload(tls: ListenerTls): void;
  /** Ends sessions, waits up to `graceMs` for running requests, then cuts off the others. */
  close(graceMs: number): Promise<void>;
}

/** Requests carry options in their query, and bodies are not read. */
const limits: Partial<ListenerLimits> = { headerBytes: 1024 * 1024, bodyBytes: 64 * 1024, connections: 4_000 };

/** Listens for requests. @throws Error for an address that cannot be listened on */
export async function openEndpoint(options: EndpointOptions): Promise<Endpoint> {
  await using opened = new AsyncDisposableStack();
  let closeGraceMs = 0;
  const { host, port, tls, clock, client, log, access, nodeNameOf } = options;
  const onError = (error: unknown) => log.error("A request to the agent failed.", { error: thrownText(error) });
  const health = new Health(options.checks ?? [], (check, reason) =>
    log.warn("A health check failed.", { check, reason }),
  );
  const counts = new RequestCounts();
  const handle = requestHandler({
    routes: endpointRoutes(options, health, counts),
    access: endpointAccess(access, {
      client,
      clock,
      onFailure: (reason) => log.debug("A request to the agent was refused.", { reason }),
    }),
    counts,
    nodeNameOf,
  });
  const keep = <L extends { close(graceMs: number): Promise<void> }>(listener: L): L =>
    opened.adopt(listener, (one) => one.close(closeGraceMs));
  const ports = { options, health, counts };
  const { healthAddress, readOnlyAddress } = options;
  const healthListener = healthAddress && keep(await openHealthPort(healthAddress, ports));
  const readOnlyListener = readOnlyAddress && keep(await openReadOnlyPort(readOnlyAddress, ports));
  const upgrade = serveUpgrades(handle, onError);
  const listener = keep(
    await listen({ host, port, tls, handle, limits: { ...limits, ...options.limits }, onError, upgrade }),
  );
  const kept = opened.move();
  return {
    port: listener.port,
    healthPort: healthListener?.port,
    readOnlyPort: readOnlyListener?.port,
    reload: (renewed) => listener.reload(renewed),
    close(graceMs) {
      closeGraceMs = graceMs;
      return kept.disposeAsync();
    },
  };
}
