import type { Store } from "../storage/store.ts";
import type { EtcdOptions } from "./config/etcd.ts";
import type { EtcdMetrics } from "./metrics/etcd-metrics.ts";

/** The etcd that keeps a server's objects. */
export interface ServerEtcd {
  readonly options: EtcdOptions;
  readonly metrics: EtcdMetrics;
  /** The store of Events, if they have an etcd of their own. */
  readonly eventStore: Store | undefined;
  /** Resolves with the reason when this server can never continue. */
  readonly failed: Promise<Error>;
  /** Removes old history, in turns with the other servers on this etcd. */
  compact(onError: (error: unknown) => void): Disposable;
}
