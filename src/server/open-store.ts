import { type OpenMember, openMember } from "../cluster/open-member.ts";
import { storedResources } from "../kinds/stored-resources.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/logs.ts";
import { EncryptedStore } from "../storage/encryption/encrypted-store.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import type { Store } from "../storage/store.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { StoreMetrics } from "./metrics/store-metrics.ts";
import { type Encryption, openEncryption } from "./open-encryption.ts";
import type { Seal } from "./sealed-store.ts";
import type { ServerEtcd } from "./server-etcd.ts";

/** A store that is ready once it is known how its objects are encrypted. */
export interface OpenStore extends AsyncDisposable {
  readonly seal: Seal;
  /** This server's member of the cluster; undefined in memory and on etcd. */
  readonly member: ServerMember | undefined;
}

/** The store of a server. */
export interface ServerStore extends AsyncDisposable {
  readonly store: Store;
  readonly member: ServerMember | undefined;
  readonly etcd: ServerEtcd | undefined;
  readonly encryption: Encryption;
}

export interface ServerMember extends OpenMember {
  readonly metrics: StoreMetrics;
}

/**
 * Opens the replica in the data directory, or a store in memory. Resolves when the replica is part of a quorum. A store
 * on etcd is opened when it is sealed.
 * @throws StartupError, DataDirectoryError
 */
export async function openStore(config: ServerConfig, log: Log): Promise<OpenStore> {
  const { dataDir, clock, membership, etcd } = config;
  if (etcd !== undefined) {
    const { openEtcd } = await import("./open-etcd.ts");
    const opened = openEtcd(config, etcd, log);
    return { ...opened, member: undefined };
  }
  if (dataDir === undefined) {
    const store = new MemoryStore({ clock });
    return { ...plainStore(store, clock), [Symbol.asyncDispose]: () => store.close() };
  }
  const metrics = new StoreMetrics();
  const member = await openMember(dataDir, { clock, membership, log, metrics });
  const { store } = member;
  return {
    ...plainStore(store, clock),
    member: { ...member, metrics },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** Wraps a store that others use too. It stays open when the server closes. */
export function sharedStore(store: Store, clock: Clock): OpenStore {
  return { ...plainStore(store, clock), [Symbol.asyncDispose]: async () => undefined };
}

/** Wraps a store that keeps what it gets. */
export function plainStore(store: Store, clock: Clock): Pick<OpenStore, "seal" | "member"> {
  return {
    member: undefined,
    async seal(transformers) {
      const encrypted = new EncryptedStore({ store, clock, resourceOf: storedResources(), transformers });
      return {
        store: encrypted,
        etcd: undefined,
        useTransformers: (changed) => encrypted.useTransformers(changed),
        reopen: () => encrypted.reopen(),
        [Symbol.dispose]: () => encrypted[Symbol.dispose](),
      };
    },
  };
}

/** Opens a store with the configured encryption. Closes it if that fails. @throws StartupError */
export async function encryptStore(opened: OpenStore, config: ServerConfig, log: Log): Promise<ServerStore> {
  await using parts = new AsyncDisposableStack();
  parts.use(opened);
  const { sealed, encryption } = parts.use(await openEncryption(opened.seal, config, log));
  const { store, etcd } = sealed;
  const kept = parts.move();
  return { store, etcd, member: opened.member, encryption, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
