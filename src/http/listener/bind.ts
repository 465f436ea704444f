import type { AddressInfo, ListenOptions, Server } from "node:net";
import type { ConnectionPool } from "./connection-pool.ts";

/**
 * Lets a server listen, and returns its address. Later errors go to `onError`.
 * @throws Error if it cannot listen; the pool is then closed
 */
export async function bind(
  server: Server,
  at: ListenOptions,
  { pool, onError }: { readonly pool: ConnectionPool; readonly onError: (error: unknown) => void },
): Promise<AddressInfo> {
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(at, resolve);
  await listening.catch(async (error) => {
    await pool.close(0);
    throw error;
  });
  server.off("error", reject);
  server.on("error", onError);
  return server.address() as AddressInfo;
}
