import { auditFlags } from "./audit-flags.ts";
import { authenticationFlags } from "./authentication-flags.ts";
import { clusterFlags } from "./cluster-flags.ts";
import type { Flag } from "./flag.ts";
import { pluginNames } from "../../admission/plugin-names.ts";

/**
 * Every flag of the server, once. The command line, its help, the embedding options and the resolved configuration are
 * derived from this table.
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
    help: "serving certificate with its chain, PEM; made by quorate when absent",
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
    help: "where to write the kubeconfig (default <data-dir>/kubeconfig)",
  },
  "shutdown-delay-duration": {
    type: "duration",
    default: 0,
    group: "Serving",
    value: "duration",
    help: "how long to serve as usual, not ready, after a signal to stop",
  },
  "livez-grace-period": {
    type: "duration",
    default: 0,
    group: "Serving",
    value: "duration",
    help: "how long /livez passes over start-up that is not finished",
  },

  "data-dir": {
    type: "text",
    group: "Storage",
    value: "dir",
    help: "where objects, certificates and keys live (default $XDG_DATA_HOME/quorate)",
  },
  "in-memory": {
    type: "boolean",
    default: false,
    group: "Storage",
    help: "keep nothing on disk: everything is gone at exit",
  },
  "history-retention-duration": {
    type: "duration",
    default: 300_000,
    group: "Storage",
    value: "duration",
    help: "how long old revisions can be listed and watched from",
  },
  "event-ttl": {
    type: "duration",
    default: 3_600_000,
    group: "Storage",
    value: "duration",
    help: "how long Event objects are kept",
  },

  ...clusterFlags,
  ...authenticationFlags,
  "authorization-mode": {
    type: "choices",
    default: ["AlwaysAllow"],
    allowed: ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"],
    group: "Authentication and authorization",
    value: "modes",
    help: "authorizers in order: ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook",
  },
  "authorization-config": {
    type: "text",
    group: "Authentication and authorization",
    value: "file",
    help: "authorizers and their settings in a file, instead of --authorization-mode; read again when it changes",
  },
  "authorization-policy-file": {
    type: "text",
    group: "Authentication and authorization",
    value: "file",
    help: "policies of mode ABAC, one JSON object a line",
  },
  "authorization-webhook-config-file": {
    type: "text",
    group: "Authentication and authorization",
    value: "file",
    help: "kubeconfig of the service that mode Webhook asks",
  },
  "authorization-webhook-version": {
    type: "choices",
    default: ["v1beta1"],
    allowed: ["v1", "v1beta1"],
    group: "Authentication and authorization",
    value: "version",
    help: "version of the reviews that mode Webhook sends: v1 or v1beta1",
  },
  "authorization-webhook-cache-authorized-ttl": {
    type: "duration",
    default: 300_000,
    group: "Authentication and authorization",
    value: "duration",
    help: "how long the webhook's allow is kept; 0 for not at all",
  },
  "authorization-webhook-cache-unauthorized-ttl": {
    type: "duration",
    default: 30_000,
    group: "Authentication and authorization",
    value: "duration",
    help: "how long the webhook's other answers are kept; 0 for not at all",
  },

  ...auditFlags,

  "feature-gates": {
    type: "switches",
    group: "API",
    value: "Name=bool,…",
    help: "features to switch; AllAlpha and AllBeta switch a stage",
  },
  "runtime-config": {
    type: "switches",
    bare: true,
    group: "API",
    value: "key=bool,…",
    help: "APIs to switch: api/all, api/ga, api/beta, api/alpha, group/version, group/version/resource",
  },
  "enable-admission-plugins": {
    type: "choices",
    default: [],
    allowed: pluginNames,
    group: "API",
    value: "names",
    help: "admission plugins to run besides those that are on by default; their order means nothing",
  },
  "disable-admission-plugins": {
    type: "choices",
    default: [],
    allowed: pluginNames,
    group: "API",
    value: "names",
    help: "admission plugins not to run although they are on by default",
  },
  controllers: {
    type: "text",
    default: "*",
    group: "API",
    value: "names",
    help: "controllers to run: * for all, -name to leave one out",
  },
  "bootstrap-signer-key": {
    type: "choices",
    default: ["token"],
    allowed: ["token", "secret"],
    group: "API",
    value: "part",
    help: "what signs cluster-info: the whole bootstrap token, or its secret part as kubeadm expects",
  },
  "service-cluster-ip-range": {
    type: "text",
    default: "10.96.0.0/12",
    group: "API",
    value: "cidr,…",
    help: "addresses of Services; one range, or one of each IP family, the default family first",
  },
  "service-node-port-range": {
    type: "text",
    default: "30000-32767",
    group: "API",
    value: "from-to",
    help: "node ports of Services, both ends included",
  },

  "request-timeout": {
    type: "duration",
    default: 60_000,
    group: "Limits",
    value: "duration",
    help: "longest time for one request, except watches",
  },
  "min-request-timeout": {
    type: "seconds",
    default: 1_800_000,
    min: 0,
    max: 86_400,
    group: "Limits",
    value: "seconds",
    help: "watches end after one to two times this",
  },
  "max-requests-inflight": {
    type: "integer",
    default: 400,
    min: 0,
    max: 1_000_000,
    group: "Limits",
    value: "n",
    help: "reading requests at a time; 0 for no limit",
  },
  "max-mutating-requests-inflight": {
    type: "integer",
    default: 200,
    min: 0,
    max: 1_000_000,
    group: "Limits",
    value: "n",
    help: "writing requests at a time; 0 for no limit",
  },

  v: {
    type: "integer",
    default: 0,
    min: 0,
    max: 10,
    group: "Logging",
    short: "v",
    value: "level",
    help: "0 warnings, 1 what the server does, 2 every request, 4 debugging, 6 everything",
  },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

export const flagNames = Object.keys(flags) as readonly FlagName[];

/** `secure-port` → `securePort`, `request-timeout` → `requestTimeoutMs`, `v` → `verbosity`: the flag's name among the options. */
export type OptionName<Name extends FlagName> = Name extends "v"
  ? "verbosity"
  : (typeof flags)[Name]["type"] extends "duration" | "seconds"
    ? `${CamelCase<Name>}Ms`
    : CamelCase<Name>;

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

/** The name of the flag among the options, see `OptionName`. */
export function optionName(name: FlagName): OptionName<FlagName> {
  if (name === "v") return "verbosity";
  const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const { type } = flags[name];
  return (type === "duration" || type === "seconds" ? `${camel}Ms` : camel) as OptionName<FlagName>;
}

type ValueOf<Type extends Flag["type"]> = Type extends "text"
  ? string
  : Type extends "boolean"
    ? boolean
    : Type extends "choices" | "texts"
      ? readonly string[]
      : Type extends "switches"
        ? Readonly<Record<string, boolean>>
        : number;

/** Options as one would write them in code, each optional. */
export type FlagOptions = {
  readonly [Name in FlagName as OptionName<Name>]?: ValueOf<(typeof flags)[Name]["type"]> | undefined;
};
