import { createServer } from "node:net";
import { StartupError } from "../process/startup-error.ts";
import type { ServerConfig } from "./config/server-options.ts";

type Address = Pick<ServerConfig, "bindAddress" | "securePort">;

/**
 * Checks that the server can listen, before it opens or creates anything else.
 * @throws StartupError for an address that cannot be used
 */
export async function requireFreePort(config: Address): Promise<void> {
  if (config.securePort === 0) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const probe = createServer();
  probe.once("error", (error) => reject(listenError(error, config)));
  probe.listen({ host: config.bindAddress, port: config.securePort }, () => probe.close(() => resolve()));
  await promise;
}

/** Returns the error of a failed attempt to listen, with the remedy if one is known. */
export function listenError(error: unknown, { bindAddress: host, securePort: port }: Address): unknown {
  const { code } = error as { code?: string };
  if (code === "EADDRINUSE") {
    return new StartupError(
      `port ${port} of ${host} is in use: stop the other process or choose another --secure-port`,
    );
  }
  if (code === "EADDRNOTAVAIL" || code === "EACCES") {
    return new StartupError(
      `cannot listen on ${host}:${port} (${code}): choose another --bind-address or --secure-port`,
    );
  }
  return error;
}
