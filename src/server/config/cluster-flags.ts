import type { Flag } from "./flag.ts";

const group = "Cluster";

/** Flags that make a server a member of a cluster. */
export const clusterFlags = {
  "peer-address": {
    type: "text",
    group,
    value: "host:port",
    help: "address where the other members reach this one, and where it listens; without it the server runs alone",
  },
  "advertise-client-url": {
    type: "text",
    group,
    value: "url",
    help: "URL where the other members reach this one's API (default https://<host of --peer-address>:<--secure-port>)",
  },
  "member-name": {
    type: "text",
    group,
    value: "name",
    help: "name of this member in the cluster (default the name of the host)",
  },
  gossip: {
    type: "boolean",
    default: true,
    group,
    help: "exchange health hints with the other members; status shows less detail without them",
  },
  "gossip-address": {
    type: "text",
    group,
    value: "host:port",
    help: "address where the other members reach this one for gossip, and where it listens (default --peer-address, with its port plus 1000)",
  },
  "tls-san": {
    type: "texts",
    group: "Serving",
    value: "name",
    help: "additional names and addresses in the certificate that quorate makes, such as a load balancer's; repeatable",
  },
} as const satisfies Record<string, Flag>;
