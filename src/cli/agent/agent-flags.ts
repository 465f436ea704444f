import type { Command } from "commander";
import { evictionTransitionMsDefault } from "../../agent/eviction/eviction-limits.ts";
import { evictionHardDefault } from "../../agent/node/eviction-thresholds.ts";
import { nodeDefaults } from "../../agent/node/node-settings.ts";
import type { Flag, FlagValue } from "../../server/config/flag.ts";
import { flagText } from "../../server/config/flag-text.ts";
import { toOption } from "../server-flags.ts";

const portMax = 65_535;

/** Flags of the agent, with kubelet's names, or those of its configuration where it has no flag. */
const agentFlags = {
  kubeconfig: {
    type: "text",
    group: "Node",
    value: "file",
    help: 'kubeconfig of the agent (default "kubeconfig" in --root-dir, as "quorate agent join" writes it)',
  },
  "root-dir": {
    type: "text",
    group: "Node",
    value: "dir",
    help: "directory of all files of the agent (default ~/.local/share/quorate-agent)",
  },
  "cert-dir": {
    type: "text",
    group: "Node",
    value: "dir",
    help: 'directory of the agent\'s certificates (default "pki" in --root-dir)',
  },
  "hostname-override": {
    type: "text",
    group: "Node",
    value: "name",
    help: "name of the node (default the name of the machine)",
  },
  "node-ip": {
    type: "texts",
    group: "Node",
    value: "address,…",
    help: "address of the node, or one of each IP family (default those of the default route's interface)",
  },
  "node-labels": { type: "texts", group: "Node", value: "key=value,…", help: "labels of the node when it registers" },
  "register-node": { type: "boolean", default: true, group: "Node", help: "create the Node if it does not exist" },
  "register-with-taints": {
    type: "texts",
    group: "Node",
    value: "key=value:effect,…",
    help: "taints of the node when it is created",
  },
  "provider-id": { type: "text", group: "Node", value: "id", help: "identity of the machine at its cloud provider" },
  "max-pods": {
    type: "integer",
    default: nodeDefaults.podsMax,
    min: 0,
    max: 10_000,
    group: "Node",
    value: "n",
    help: "number of pods that the node takes",
  },
  "kube-reserved": {
    type: "texts",
    group: "Node",
    value: "resource=quantity,…",
    help: "resources for the agent and its runtime, which pods cannot have",
  },
  "system-reserved": {
    type: "texts",
    group: "Node",
    value: "resource=quantity,…",
    help: "resources for other programs, which pods cannot have",
  },
  "eviction-hard": {
    type: "text",
    default: evictionHardDefault,
    group: "Node",
    value: "signal<quantity,…",
    help: "supplies below which the node is under pressure and evicts pods at once",
  },
  "eviction-soft": {
    type: "text",
    group: "Node",
    value: "signal<quantity,…",
    help: "supplies below which it evicts pods after a grace period",
  },
  "eviction-soft-grace-period": {
    type: "text",
    group: "Node",
    value: "signal=duration,…",
    help: "times for which a supply is below its soft limit until pods are evicted",
  },
  "eviction-max-pod-grace-period": {
    type: "integer",
    default: 0,
    min: 0,
    max: 86_400,
    group: "Node",
    value: "seconds",
    help: "longest time that a pod has to end after a soft limit",
  },
  "eviction-minimum-reclaim": {
    type: "text",
    group: "Node",
    value: "signal=quantity,…",
    help: "amounts above its limit that have to be free before evictions end",
  },
  "eviction-pressure-transition-period": {
    type: "duration",
    default: evictionTransitionMsDefault,
    group: "Node",
    value: "duration",
    help: "time after a shortage until its condition ends",
  },
  "node-status-update-frequency": {
    type: "duration",
    default: nodeDefaults.statusUpdateMs,
    group: "Node",
    value: "duration",
    help: "time between two checks of the node's status",
  },
  "node-status-report-frequency": {
    type: "duration",
    default: nodeDefaults.statusReportMs,
    group: "Node",
    value: "duration",
    help: "time after which an unchanged status is reported",
  },
  "node-lease-duration-seconds": {
    type: "integer",
    default: nodeDefaults.leaseDurationSeconds,
    min: 1,
    max: 3_600,
    group: "Node",
    value: "seconds",
    help: "duration of the node's Lease, which is renewed after a quarter of it",
  },
  "rotate-certificates": {
    type: "boolean",
    default: true,
    group: "Node",
    help: 'renew the client certificate of "quorate agent join" before it expires',
  },
  runtime: {
    type: "choices",
    default: ["process"],
    allowed: ["simulated", "process", "cri"],
    group: "Pods",
    value: "kind",
    help: "runtime of containers: simulated without processes, process for plain ones, or cri",
  },
  "container-runtime-endpoint": {
    type: "text",
    default: "unix:///run/containerd/containerd.sock",
    group: "Pods",
    value: "url",
    help: "socket of the runtime, with --runtime cri",
  },
  "cluster-dns": {
    type: "texts",
    group: "Pods",
    value: "address,…",
    help: "DNS servers of pods, with --runtime cri (default those of the machine)",
  },
  "cluster-domain": {
    type: "text",
    default: "cluster.local",
    group: "Pods",
    value: "domain",
    help: "domain of the cluster, in which pods search for names",
  },
  "pod-manifest-path": {
    type: "text",
    group: "Pods",
    value: "path",
    help: "file or directory of static pods, which run without the API server",
  },
  "pod-logs-dir": {
    type: "text",
    group: "Pods",
    value: "dir",
    help: 'directory of the logs of containers (default "pod-logs" in --root-dir, /var/log/pods with --runtime cri)',
  },
  address: {
    type: "text",
    default: "0.0.0.0",
    group: "Serving",
    value: "address",
    help: "address of the HTTPS endpoint",
  },
  port: {
    type: "integer",
    default: 10_250,
    min: 0,
    max: portMax,
    group: "Serving",
    value: "port",
    help: "port of the HTTPS endpoint; 0 picks a free one",
  },
  "healthz-port": {
    type: "integer",
    default: 10_248,
    min: 0,
    max: portMax,
    group: "Serving",
    value: "port",
    help: "port of /healthz without TLS; 0 turns it off",
  },
  "healthz-bind-address": {
    type: "text",
    default: "127.0.0.1",
    group: "Serving",
    value: "address",
    help: "address of /healthz",
  },
  "read-only-port": {
    type: "integer",
    default: 0,
    min: 0,
    max: portMax,
    group: "Serving",
    value: "port",
    help: "port at --address where anyone may read pods, statistics and metrics without TLS; 0 turns it off",
  },
  "tls-cert-file": {
    type: "text",
    group: "Serving",
    value: "file",
    help: "certificate of the endpoint, PEM (default one that the agent signs itself)",
  },
  "tls-private-key-file": { type: "text", group: "Serving", value: "file", help: "key of the certificate, PEM" },
  "rotate-server-certificates": {
    type: "boolean",
    default: false,
    group: "Serving",
    help: "request the certificate of the endpoint from the cluster, where somebody has to approve it",
  },
  "enable-debugging-handlers": {
    type: "boolean",
    default: true,
    group: "Serving",
    help: "serve logs, exec, attach, run and port-forward",
  },
  "client-ca-file": {
    type: "text",
    group: "Authentication and authorization",
    value: "file",
    help: "authorities of clients, PEM (default those of the kubeconfig)",
  },
  "anonymous-auth": {
    type: "boolean",
    default: false,
    group: "Authentication and authorization",
    help: "accept requests without credentials, as system:anonymous",
  },
  "authentication-token-webhook": {
    type: "boolean",
    default: true,
    group: "Authentication and authorization",
    help: "accept tokens that the API server accepts in a TokenReview",
  },
  "authentication-token-webhook-cache-ttl": {
    type: "duration",
    default: 120_000,
    group: "Authentication and authorization",
    value: "duration",
    help: "time for which the API server's answer about a token is kept",
  },
  "authorization-mode": {
    type: "choices",
    default: ["Webhook"],
    allowed: ["Webhook", "AlwaysAllow"],
    group: "Authentication and authorization",
    value: "mode",
    help: "Webhook asks the API server with SubjectAccessReviews, AlwaysAllow nobody",
  },
  "authorization-webhook-cache-authorized-ttl": {
    type: "duration",
    default: 300_000,
    group: "Authentication and authorization",
    value: "duration",
    help: "time for which a permission is kept",
  },
  "authorization-webhook-cache-unauthorized-ttl": {
    type: "duration",
    default: 30_000,
    group: "Authentication and authorization",
    value: "duration",
    help: "time for which a refusal is kept",
  },
  v: {
    type: "integer",
    default: 0,
    min: 0,
    max: 10,
    short: "v",
    group: "Logging",
    value: "level",
    help: "verbosity of the log",
  },
} as const satisfies Record<string, Flag>;

type AgentFlagName = keyof typeof agentFlags;

/** The flags that were given, by name. */
export type AgentFlagValues = {
  readonly [Name in AgentFlagName]?: FlagValue<(typeof agentFlags)[Name]["type"]> | undefined;
};

type DefaultedName = {
  [Name in AgentFlagName]: (typeof agentFlags)[Name] extends { readonly default: unknown } ? Name : never;
}[AgentFlagName];

/** Returns the value of a flag, or its default. */
export function agentFlagValue<Name extends DefaultedName>(
  values: AgentFlagValues,
  name: Name,
): FlagValue<(typeof agentFlags)[Name]["type"]> {
  return (values[name] ?? agentFlags[name].default) as FlagValue<(typeof agentFlags)[Name]["type"]>;
}

const names = Object.keys(agentFlags) as AgentFlagName[];
const options = names.map((name) => ({ name, option: toOption(name, agentFlags[name]) }));

/** Returns the text of every flag by name. Lists have no brackets, because most of them are maps upstream. */
export function agentFlagTexts(values: AgentFlagValues): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name, flagText(agentFlags[name], values[name]).replace(/^\[(.*)\]$/, "$1")]));
}

/** Adds every flag of the agent to a command. */
export function addAgentFlags(command: Command): Command {
  for (const { option } of options) command.addOption(option);
  return command;
}

/** Returns the given flags among commander's values. */
export function agentFlagValues(values: Record<string, unknown>): AgentFlagValues {
  const given = options.flatMap(({ name, option }) => {
    const value = values[option.attributeName()];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given) as AgentFlagValues;
}
