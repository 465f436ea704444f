import { type OpenMember, openMember } from "../cluster/open-member.ts";
import type { Log } from "../process/logs.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import type { Store } from "../storage/store.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { StoreMetrics } from "./metrics/store-metrics.ts";
import { type Encryption, openEncryption } from "./open-encryption.ts";

/** A store, and its member of the cluster if the store is replicated. */
export interface OpenStore extends AsyncDisposable {
  readonly store: Store;
  /** Undefined in memory. */
  readonly member: ServerMember | undefined;
}

/** The store of a server, which encrypts what the opened one stores. */
export interface ServerStore extends OpenStore {
  readonly encryption: Encryption;
}

export interface ServerMember extends OpenMember {
  readonly metrics: StoreMetrics;
}

/**
 * Opens the replica in the data directory, or a store in memory. Resolves when the replica is part of a quorum.
 * @throws StartupError, DataDirectoryError
 */
export async function openStore({ dataDir, clock, membership }: ServerConfig, log: Log): Promise<OpenStore> {
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
export function sharedStore(store: Store): OpenStore {
  return { store, member: undefined, [Symbol.asyncDispose]: async () => undefined };
}

/** Puts encryption around an opened store. Closes it if that fails. @throws StartupError */
export async function encryptStore(opened: OpenStore, config: ServerConfig, log: Log): Promise<ServerStore> {
  await using parts = new AsyncDisposableStack();
  parts.use(opened);
  const { store, encryption } = parts.use(openEncryption(opened.store, config, log));
  const kept = parts.move();
  return { ...opened, store, encryption, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
