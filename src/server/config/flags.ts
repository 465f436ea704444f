import { pluginNames } from "../../admission/plugin-names.ts";
import { aggregationFlags } from "./aggregation-flags.ts";
import { auditFlags } from "./audit-flags.ts";
import { authenticationFlags } from "./authentication-flags.ts";
import { clusterFlags } from "./cluster-flags.ts";
import { encryptionFlags } from "./encryption-flags.ts";
import { etcdFlags } from "./etcd-flags.ts";
import type { Flag, FlagValue } from "./flag.ts";
import { nodeFlags } from "./node-flags.ts";
import { simulatedNodeFlags } from "./simulated-node-flags.ts";

/**
 * Every flag of the server, once. The command line, its help, the embedding options and the resolved configuration derive
 * from this table.
 */
export const flags = {
  "bind-address": { type: "text", default: "127.0.0.1", group: "Serving", value: "ip", help: "address to listen on" },
  "secure-port": {
    type: "integer",
    default: 6443,
    min: 0,
    max: 65_535,
    group: "Serving",
    value: "port",
    help: "port to listen on; 0 picks a free one",
  },
  "tls-cert-file": {
    type: "text",
    group: "Serving",
    value: "file",
    help: "serving certificate with its chain, PEM; quorate makes one if absent",
  },
  "tls-private-key-file": {
    type: "text",
    group: "Serving",
    value: "file",
    help: "private key of --tls-cert-file, PEM",
  },
  kubeconfig: {
    type: "text",
    group: "Serving",
    value: "file",
    help: "file to write the kubeconfig to (default <data-dir>/kubeconfig)",
  },
  "serving-processes": {
    type: "integer",
    default: 0,
    min: 0,
    max: 64,
    group: "Serving",
    value: "n",
    help: "further processes that serve the API on the same port, each with its own copy of all objects in memory",
  },
  "shutdown-delay-duration": {
    type: "duration",
    default: 0,
    group: "Serving",
    value: "duration",
    help: "how long to keep serving after a signal to stop, while /readyz fails",
  },
  "livez-grace-period": {
    type: "duration",
    default: 0,
    group: "Serving",
    value: "duration",
    help: "how long /livez succeeds before startup is complete",
  },

  "data-dir": {
    type: "text",
    group: "Storage",
    value: "dir",
    help: "directory for objects, certificates and keys (default $XDG_DATA_HOME/quorate)",
  },
  "in-memory": {
    type: "boolean",
    default: false,
    group: "Storage",
    help: "keep nothing on disk; all data is lost at exit",
  },
  "history-retention-duration": {
    type: "duration",
    default: 300_000,
    group: "Storage",
    value: "duration",
    help: "how long clients can list old revisions and start watches from them",
  },
  "event-ttl": {
    type: "duration",
    default: 3_600_000,
    group: "Storage",
    value: "duration",
    help: "how long Event objects are kept",
  },
  ...encryptionFlags,
  ...etcdFlags,

  ...clusterFlags,
  ...authenticationFlags,
  "authorization-mode": {
    type: "choices",
    default: ["Node", "RBAC"],
    allowed: ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"],
    group: "Authentication and authorization",
    value: "modes",
    help: "authorizers in order: ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook",
  },
  "authorization-config": {
    type: "text",
    group: "Authentication and authorization",
    value: "file",
    help: "file with authorizers and their settings, instead of --authorization-mode; reread when it changes",
  },
  "authorization-policy-file": {
    type: "text",
    group: "Authentication and authorization",
    value: "file",
    help: "file with policies for mode ABAC, one JSON object per line",
  },
  "authorization-webhook-config-file": {
    type: "text",
    group: "Authentication and authorization",
    value: "file",
    help: "kubeconfig of the service that mode Webhook calls",
  },
  "authorization-webhook-version": {
    type: "choices",
    default: ["v1beta1"],
    allowed: ["v1", "v1beta1"],
    group: "Authentication and authorization",
    value: "version",
    help: "version of the SubjectAccessReviews that mode Webhook sends: v1 or v1beta1",
  },
  "authorization-webhook-cache-authorized-ttl": {
    type: "duration",
    default: 300_000,
    group: "Authentication and authorization",
    value: "duration",
    help: "how long the webhook's answers are cached if they allow; 0 disables the cache",
  },
  "authorization-webhook-cache-unauthorized-ttl": {
    type: "duration",
    default: 30_000,
    group: "Authentication and authorization",
    value: "duration",
    help: "how long the webhook's other answers are cached; 0 disables the cache",
  },

  ...auditFlags,

  "feature-gates": {
    type: "switches",
    group: "API",
    value: "Name=bool,…",
    help: "features to enable or disable; AllAlpha and AllBeta stand for all features of a stage",
  },
  "runtime-config": {
    type: "switches",
    bare: true,
    group: "API",
    value: "key=bool,…",
    help: "APIs to enable or disable: api/all, api/ga, api/beta, api/alpha, group/version, group/version/resource",
  },
  "enable-admission-plugins": {
    type: "choices",
    default: [],
    allowed: pluginNames,
    group: "API",
    value: "names",
    help: "admission plugins to run in addition to the default ones; the order does not matter",
  },
  "disable-admission-plugins": {
    type: "choices",
    default: [],
    allowed: pluginNames,
    group: "API",
    value: "names",
    help: "default admission plugins to disable",
  },
  "admission-control-config-file": {
    type: "text",
    group: "API",
    value: "file",
    help: "AdmissionConfiguration that names kubeconfigs with credentials for admission webhooks",
  },
  "dynamic-admission": {
    type: "boolean",
    default: true,
    group: "API",
    help: "apply admission webhooks and policies; false lets you repair objects that they would reject",
  },
  "webhook-circuit-breaker": {
    type: "boolean",
    default: true,
    group: "API",
    help: "stop waiting for an admission webhook after several timeouts in a row, and retry every few seconds",
  },
  ...aggregationFlags,
  controllers: {
    type: "text",
    default: "*",
    group: "API",
    value: "names",
    help: "controllers to run: * for the default ones, name to add one, -name to leave one out",
  },
  ...nodeFlags,
  ...simulatedNodeFlags,
  "bootstrap-signer-key": {
    type: "choices",
    default: ["token"],
    allowed: ["token", "secret"],
    group: "API",
    value: "part",
    help: "part of the bootstrap token that signs cluster-info: token, or secret as kubeadm expects",
  },
  "service-cluster-ip-range": {
    type: "text",
    default: "10.96.0.0/12",
    group: "API",
    value: "cidr,…",
    help: "ranges of Service addresses; one range, or one per IP family with the default family first",
  },
  "service-node-port-range": {
    type: "text",
    default: "30000-32767",
    group: "API",
    value: "from-to",
    help: "range of node ports for Services, inclusive",
  },

  "request-timeout": {
    type: "duration",
    default: 60_000,
    group: "Limits",
    value: "duration",
    help: "maximum duration of a request, except watches",
  },
  "min-request-timeout": {
    type: "seconds",
    default: 1_800_000,
    min: 0,
    max: 86_400,
    group: "Limits",
    value: "seconds",
    help: "watches end after one to two times this value",
  },
  "enable-priority-and-fairness": {
    type: "boolean",
    default: true,
    group: "Limits",
    help: "divide the requests in flight among flows, by FlowSchemas and PriorityLevelConfigurations",
  },
  "max-requests-inflight": {
    type: "integer",
    default: 400,
    min: 0,
    max: 1_000_000,
    group: "Limits",
    value: "n",
    help: "maximum number of concurrent reading requests; 0 for no limit. With fairness, levels share the sum of both limits",
  },
  "max-mutating-requests-inflight": {
    type: "integer",
    default: 200,
    min: 0,
    max: 1_000_000,
    group: "Limits",
    value: "n",
    help: "maximum number of concurrent writing requests; 0 for no limit",
  },

  v: {
    type: "integer",
    default: 0,
    min: 0,
    max: 10,
    group: "Logging",
    short: "v",
    value: "level",
    help: "verbosity: 0 warnings, 1 actions of the server, 2 every request, 4 debugging, 6 everything",
  },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

export const flagNames = Object.keys(flags) as readonly FlagName[];

/**
 * The option's name of a flag: `secure-port` → `securePort`, `request-timeout` → `requestTimeoutMs`, `v` → `verbosity`.
 */
export type OptionName<Name extends FlagName> = Name extends "v"
  ? "verbosity"
  : (typeof flags)[Name]["type"] extends "duration" | "seconds"
    ? `${CamelCase<Name>}Ms`
    : CamelCase<Name>;

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

/** Returns the option's name of a flag, see `OptionName`. */
export function optionName(name: FlagName): OptionName<FlagName> {
  if (name === "v") return "verbosity";
  const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const { type } = flags[name];
  return (type === "duration" || type === "seconds" ? `${camel}Ms` : camel) as OptionName<FlagName>;
}

/** The flags as options for code, all optional. */
export type FlagOptions = {
  readonly [Name in FlagName as OptionName<Name>]?: FlagValue<(typeof flags)[Name]["type"]> | undefined;
};
