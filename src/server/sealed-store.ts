import type { ResourceTransformers } from "../storage/encryption/resource-transformers.ts";
import type { Store } from "../storage/store.ts";
import type { ServerEtcd } from "./server-etcd.ts";

/** A store that encrypts its objects, and can change how. */
export interface SealedStore extends Disposable {
  readonly store: Store;
  /** Undefined if this server keeps the objects itself. */
  readonly etcd: ServerEtcd | undefined;
  /** Uses other transformers from now on. */
  useTransformers(transformers: ResourceTransformers): void;
  /** Tries to decrypt what is unreadable. Call it when a key service has answered. */
  reopen(): void;
}

/** Opens a store that encrypts its objects with these transformers. @throws StartupError */
export type Seal = (transformers: ResourceTransformers) => Promise<SealedStore>;
