import type { Flag } from "./flag.ts";

const group = "Cluster";

/** The part of the table of flags that makes a server a member of a cluster. */
export const clusterFlags = {
  "peer-address": {
    type: "text",
    group,
    value: "host:port",
    help: "where the other members of the cluster reach this one; listened on. Without it the server stays alone",
  },
  "advertise-client-url": {
    type: "text",
    group,
    value: "url",
    help: "where the other members reach the API of this one (default https://<host of --peer-address>:<--secure-port>)",
  },
  "member-name": {
    type: "text",
    group,
    value: "name",
    help: "what this member is called in the cluster (default the name of the host)",
  },
  gossip: {
    type: "boolean",
    default: true,
    group,
    help: "tell the other members about this one's health; hints only, without them status says less",
  },
  "gossip-address": {
    type: "text",
    group,
    value: "host:port",
    help: "where the other members reach this one for gossip; listened on (default --peer-address, its port and 1000)",
  },
  "tls-san": {
    type: "texts",
    group: "Serving",
    value: "name",
    help: "further names and addresses in the certificate that quorate makes, such as a load balancer's; repeatable",
  },
} as const satisfies Record<string, Flag>;
