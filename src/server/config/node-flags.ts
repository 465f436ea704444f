import { nodeLifecycleDefaults } from "../../controllers/nodes/node-lifecycle-settings.ts";
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
  "node-monitor-period": {
    type: "duration",
    default: nodeLifecycleDefaults.monitorPeriodMs,
    group,
    value: "duration",
    help: "time between two checks of the health of all nodes",
  },
  "node-monitor-grace-period": {
    type: "duration",
    default: nodeLifecycleDefaults.monitorGraceMs,
    group,
    value: "duration",
    help: "time without a sign of life after which a node is unreachable; several times that between its reports",
  },
  "node-startup-grace-period": {
    type: "duration",
    default: nodeLifecycleDefaults.startupGraceMs,
    group,
    value: "duration",
    help: "the same for a new node that has not reported yet",
  },
  "node-eviction-rate": {
    type: "number",
    default: nodeLifecycleDefaults.evictionRate,
    min: 0,
    max: 1_000,
    group,
    value: "n",
    help: "nodes per second in a healthy zone whose pods are evicted because the node is unhealthy",
  },
  "secondary-node-eviction-rate": {
    type: "number",
    default: nodeLifecycleDefaults.secondaryEvictionRate,
    min: 0,
    max: 1_000,
    group,
    value: "n",
    help: "the same in an unhealthy zone; none there up to --large-cluster-size-threshold nodes",
  },
  "large-cluster-size-threshold": {
    type: "integer",
    default: nodeLifecycleDefaults.largeZoneSize,
    min: 0,
    max: 1_000_000,
    group,
    value: "n",
    help: "number of nodes up to which an unhealthy zone keeps all its pods",
  },
  "unhealthy-zone-threshold": {
    type: "number",
    default: nodeLifecycleDefaults.unhealthyFraction,
    min: 0,
    max: 1,
    group,
    value: "fraction",
    help: "fraction of unready nodes, at least three, from which a zone is unhealthy",
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
