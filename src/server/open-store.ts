import { type OpenMember, openMember } from "../cluster/open-member.ts";
import type { Log } from "../process/logs.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import type { Store } from "../storage/store.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { StoreMetrics } from "./metrics/store-metrics.ts";

/** The store of a server, and its member of the cluster if the store is replicated. */
export interface ServerStore extends AsyncDisposable {
  readonly store: Store;
  /** Undefined in memory. */
  readonly member: ServerMember | undefined;
}

export interface ServerMember extends OpenMember {
  readonly metrics: StoreMetrics;
}

/**
 * Opens the replica in the data directory, or a store in memory. Resolves when the replica is part of a quorum.
 * @throws StartupError, DataDirectoryError
 */
export async function openStore({ dataDir, clock, membership }: ServerConfig, log: Log): Promise<ServerStore> {
  if (dataDir === undefined) {
    const store = new MemoryStore({ clock });
    return { store, member: undefined, [Symbol.asyncDispose]: () => store.close() };
  }
  const metrics = new StoreMetrics();
  const member = await openMember(dataDir, { clock, membership, log, metrics });
  const { store } = member;
  return { store, member: { ...member, metrics }, [Symbol.asyncDispose]: () => store.close() };
}

/** Wraps a store that others use too. It stays open when the server closes. */
export function sharedStore(store: Store): ServerStore {
  return { store, member: undefined, [Symbol.asyncDispose]: async () => undefined };
}
