import type { Flag } from "./flag.ts";

const group = "API";

/** Flags of the controllers of nodes, with kube-controller-manager's names. */
export const nodeFlags = {
  "allocate-node-cidrs": {
    type: "boolean",
    default: false,
    group,
    help: "give every node a part of --cluster-cidr for the addresses of its pods",
  },
  "cluster-cidr": {
    type: "text",
    group,
    value: "cidr,…",
    help: "ranges of pod addresses for --allocate-node-cidrs; one range, or one per IP family",
  },
  "node-cidr-mask-size-ipv4": {
    type: "integer",
    default: 24,
    min: 0,
    max: 32,
    group,
    value: "bits",
    help: "length of the prefix of a node's part of the IPv4 range",
  },
  "node-cidr-mask-size-ipv6": {
    type: "integer",
    default: 64,
    min: 0,
    max: 128,
    group,
    value: "bits",
    help: "length of the prefix of a node's part of the IPv6 range",
  },
  "terminated-pod-gc-threshold": {
    type: "integer",
    default: 12_500,
    min: 0,
    max: 1_000_000,
    group,
    value: "n",
    help: "number of ended pods that are kept; the oldest beyond it are deleted, and 0 keeps all",
  },
} as const satisfies Record<string, Flag>;
