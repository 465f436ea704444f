import type { EtcdOptions } from "../../server/config/etcd.ts";

/** A migration of all objects. */
export interface MigrateOptions {
  readonly direction: "fromEtcd" | "toEtcd";
  readonly directory: string;
  readonly etcd: EtcdOptions;
  /** File with the keys of encrypted objects; undefined if nothing is encrypted. */
  readonly encryption: string | undefined;
  /** Only says what would be done, and what would be refused. */
  readonly dryRun: boolean;
}
