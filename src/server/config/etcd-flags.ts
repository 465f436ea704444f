import type { Flag } from "./flag.ts";

const group = "Storage";

/** Flags of a server that keeps its objects in etcd. The names are upstream's. */
export const etcdFlags = {
  "etcd-servers": {
    type: "texts",
    group,
    value: "url,…",
    help: "etcd servers to keep objects in, as scheme://ip:port, instead of a store of our own",
  },
  "etcd-servers-overrides": {
    type: "texts",
    group,
    value: "override,…",
    help: "etcd servers for Events alone, as /events#url;url. Other resources cannot be elsewhere",
  },
  "etcd-cafile": {
    type: "text",
    group,
    value: "file",
    help: "authorities of etcd's serving certificates, PEM (default those of the system); reread for each connection",
  },
  "etcd-certfile": {
    type: "text",
    group,
    value: "file",
    help: "client certificate for etcd, PEM; reread for each connection",
  },
  "etcd-keyfile": {
    type: "text",
    group,
    value: "file",
    help: "private key of --etcd-certfile, PEM",
  },
  "etcd-prefix": {
    type: "text",
    default: "/registry",
    group,
    value: "prefix",
    help: "prefix of all keys in etcd",
  },
  "etcd-compaction-interval": {
    type: "duration",
    default: 300_000,
    group,
    value: "duration",
    help: "interval at which history is removed from etcd; 0 if somebody else removes it",
  },
  "etcd-healthcheck-timeout": {
    type: "duration",
    default: 2_000,
    group,
    value: "duration",
    help: "how long the health check waits for etcd",
  },
  "etcd-readycheck-timeout": {
    type: "duration",
    default: 2_000,
    group,
    value: "duration",
    help: "how long the readiness check waits for etcd",
  },
  "etcd-db-metric-poll-interval": {
    type: "duration",
    default: 30_000,
    group,
    value: "duration",
    help: "interval at which etcd is asked for the size of its database; 0 to disable the metric",
  },
  "lease-reuse-duration-seconds": {
    type: "seconds",
    default: 60_000,
    min: 0,
    max: 86_400,
    group,
    value: "seconds",
    help: "how long a lease in etcd is given to further objects, such as Events",
  },
  "storage-media-type": {
    type: "choices",
    default: ["application/vnd.kubernetes.protobuf"],
    allowed: ["application/json", "application/vnd.kubernetes.protobuf"],
    group,
    value: "type",
    help: "encoding of objects in etcd: application/vnd.kubernetes.protobuf or application/json. Custom resources are always JSON",
  },
} as const satisfies Record<string, Flag>;
