import { resolve } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import type { EtcdFiles } from "../../storage/etcd/client/etcd-credentials.ts";
import { type EtcdEndpoint, parseEndpoints } from "../../storage/etcd/client/etcd-endpoint.ts";
import { eventEndpointsOf } from "./etcd-overrides.ts";
import { type FlagOptions, flags } from "./flags.ts";

/** The etcd that keeps a server's objects. */
export interface EtcdOptions {
  readonly endpoints: readonly EtcdEndpoint[];
  /** The etcd of Events, if it is another one. */
  readonly eventEndpoints?: readonly EtcdEndpoint[] | undefined;
  readonly files: EtcdFiles;
  /** Prefix of all keys. */
  readonly prefix: string;
  readonly mediaType: "application/json" | "application/vnd.kubernetes.protobuf";
  /** 0 if somebody else compacts. */
  readonly compactionIntervalMs: number;
  readonly healthcheckTimeoutMs: number;
  readonly readycheckTimeoutMs: number;
  /** 0 without a metric of the database's size. */
  readonly dbMetricPollIntervalMs: number;
  readonly leaseReuseMs: number;
}

/** Flags that say where etcd is. They mean nothing without `--etcd-servers`. */
const dependentFlags = ["etcd-cafile", "etcd-certfile", "etcd-keyfile"] as const;

/** Returns undefined for a server with a store of its own. @throws StartupError */
export function etcdOptionsOf(options: FlagOptions): EtcdOptions | undefined {
  const { etcdServers = [], etcdCafile, etcdCertfile, etcdKeyfile } = options;
  const eventEndpoints = eventEndpointsOf(options.etcdServersOverrides ?? []);
  if (etcdServers.length === 0) {
    if (eventEndpoints !== undefined) {
      throw new StartupError("--etcd-servers-overrides needs --etcd-servers: give both or neither");
    }
    const given = [etcdCafile, etcdCertfile, etcdKeyfile].findIndex((file) => file !== undefined);
    if (given >= 0) throw new StartupError(`--${dependentFlags[given]} needs --etcd-servers: give both or neither`);
    return undefined;
  }
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw new StartupError("--etcd-certfile and --etcd-keyfile belong together: give both or neither");
  }
  const [mediaType] = options.storageMediaType ?? flags["storage-media-type"].default;
  return {
    endpoints: parseEndpoints(etcdServers, "--etcd-servers"),
    eventEndpoints,
    files: { ca: pathOf(etcdCafile), certificate: pathOf(etcdCertfile), key: pathOf(etcdKeyfile) },
    prefix: options.etcdPrefix ?? flags["etcd-prefix"].default,
    mediaType: mediaType === "application/json" ? mediaType : "application/vnd.kubernetes.protobuf",
    compactionIntervalMs: options.etcdCompactionIntervalMs ?? flags["etcd-compaction-interval"].default,
    healthcheckTimeoutMs: options.etcdHealthcheckTimeoutMs ?? flags["etcd-healthcheck-timeout"].default,
    readycheckTimeoutMs: options.etcdReadycheckTimeoutMs ?? flags["etcd-readycheck-timeout"].default,
    dbMetricPollIntervalMs: options.etcdDbMetricPollIntervalMs ?? flags["etcd-db-metric-poll-interval"].default,
    leaseReuseMs: options.leaseReuseDurationSecondsMs ?? flags["lease-reuse-duration-seconds"].default,
  };
}

function pathOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : resolve(file);
}
