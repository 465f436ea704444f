import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { AuditOptions } from "../../access/audit/audit-options.ts";
import type { AuthenticationOptions } from "../../access/authentication/authentication-options.ts";
import type { AuthorizationOptions } from "../../access/authorization/authorization-options.ts";
import { chosenPlugins, dynamicPlugins, type PluginName } from "../../admission/plugin-names.ts";
import { isHost } from "../../cluster/member-address.ts";
import {
  advertisedHost,
  bindAddressOf,
  type MembershipOptions,
  membershipOptionsOf,
} from "../../cluster/membership.ts";
import { type ControllerName, parseControllers } from "../../controllers/controller-names.ts";
import type { NodeCidrRange } from "../../controllers/nodes/cidr-set.ts";
import type { NodeLifecycleSettings } from "../../controllers/nodes/node-lifecycle-settings.ts";
import type { OpenClient } from "../../http/in-process-client.ts";
import type { Clock } from "../../process/clock.ts";
import { systemClock } from "../../process/clock.ts";
import { StartupError } from "../../process/startup-error.ts";
import { readAdmissionConfiguration, type WebhookKubeconfigs } from "./admission-configuration.ts";
import { auditOptionsOf } from "./audit.ts";
import { authenticationOptionsOf } from "./authentication.ts";
import { authorizationOptionsOf } from "./authorization.ts";
import { type EncryptionOptions, encryptionOptionsOf } from "./encryption.ts";
import { type EtcdOptions, etcdOptionsOf } from "./etcd.ts";
import { type FeatureGates, resolveFeatureGates } from "./feature-gates.ts";
import type { Flag } from "./flag.ts";
import { flagTexts } from "./flag-texts.ts";
import { type FlagOptions, flagNames, flags, optionName } from "./flags.ts";
import { nodeCidrRangesOf } from "./node-cidr-ranges.ts";
import { nodeLifecycleOf } from "./node-lifecycle-options.ts";
import { parseRuntimeConfig } from "./runtime-config.ts";
import { type SimulatedNodesConfig, simulatedNodesOf } from "./simulated-nodes.ts";

/**
 * The options of `startServer`: one field per flag in camel case, durations in milliseconds, and fields that only code
 * can set.
 */
export interface ServerOptions extends FlagOptions {
  /** The source of time; the system's clock by default. */
  readonly clock?: Clock | undefined;
  /** The command line of a serving process of this program. Only a program can have serving processes. */
  readonly servingCommand?: readonly string[] | undefined;
}

/** The options with defaults filled in, texts parsed and contradictions rejected. */
export interface ServerConfig {
  readonly bindAddress: string;
  readonly securePort: number;
  /** Number of further processes that serve the API. */
  readonly servingProcesses: number;
  /** The user's own serving certificate; undefined to use ours. */
  readonly tlsFiles: { readonly certificate: string; readonly key: string } | undefined;
  readonly shutdownDelayDurationMs: number;
  readonly livezGracePeriodMs: number;
  /** Undefined in memory, where nothing may be written to disk. */
  readonly dataDir: string | undefined;
  readonly inMemory: boolean;
  /** The path of the kubeconfig to write; undefined to write none. */
  readonly kubeconfig: string | undefined;
  readonly membership: MembershipOptions;
  /** Additional names and addresses for our serving certificate. */
  readonly servingHosts: readonly string[];
  readonly historyRetentionDurationMs: number;
  readonly eventTtlMs: number;
  readonly clientCaFile: string | undefined;
  readonly kubeletCertificateAuthority: string | undefined;
  readonly kubeletPreferredAddressTypes: readonly string[] | undefined;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  /** Undefined if nothing is recorded. */
  readonly audit: AuditOptions | undefined;
  readonly encryption: EncryptionOptions;
  /** Undefined if this server keeps the objects itself. */
  readonly etcd: EtcdOptions | undefined;
  readonly featureGates: FeatureGates;
  /** Keys in canonical form, see `parseRuntimeConfig`. */
  readonly runtimeConfig: ReadonlyMap<string, boolean>;
  /** The plugins in the order in which they run. */
  readonly admissionPlugins: readonly PluginName[];
  /** Kubeconfigs with credentials for admission webhooks. */
  readonly webhookKubeconfigs: WebhookKubeconfigs;
  /** Whether requests stop waiting for admission webhooks that repeatedly time out. */
  readonly breaksCircuits: boolean;
  /** Whether Services are reached at their endpoints, not at their cluster IPs. */
  readonly routesToEndpoints: boolean;
  /** Our client certificate for the servers of APIServices. */
  readonly proxyClientFiles: { readonly certificate: string; readonly key: string } | undefined;
  /** Whether redirects by the servers of APIServices are refused instead of forwarded. */
  readonly refusesRedirects: boolean;
  readonly controllers: ReadonlySet<ControllerName>;
  /** Ranges of pod addresses of which every node gets a part; none if nodes get no parts. */
  readonly nodeCidrRanges: readonly NodeCidrRange[];
  readonly nodeLifecycle: NodeLifecycleSettings;
  /** The nodes that this server simulates; undefined if there are none. */
  readonly simulatedNodes: SimulatedNodesConfig | undefined;
  /** Number of ended pods that are kept; 0 keeps all. */
  readonly terminatedPodsMax: number;
  /** The part of the bootstrap token that signs cluster-info. */
  readonly bootstrapSignerKey: "token" | "secret";
  /** One CIDR, or one for each family. */
  readonly serviceClusterIpRange: string;
  readonly serviceNodePortRange: string;
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutMs: number;
  /** The seats of priority and fairness; undefined to apply the plain limits below. */
  readonly fairSeats: number | undefined;
  readonly maxRequestsInflight: number;
  readonly maxMutatingRequestsInflight: number;
  readonly verbosity: number;
  /** The text of every flag by name, for `/flagz`. */
  readonly flagTexts: ReadonlyMap<string, string>;
  readonly clock: Clock;
}

/** A running server. */
export interface RunningServer {
  /** `https://127.0.0.1:6443`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** YAML text as of startup. The file also follows renewed certificates and a replaced authority. */
  readonly kubeconfig: string;
  /** The path of the kubeconfig, if one was written. */
  readonly kubeconfigPath?: string | undefined;
  /** The bearer token of an administrator. */
  readonly token: string;
  /** PEM of the certificate authority for clients to trust, as of startup. */
  readonly ca: string;
  /** The nodes that this server simulates; absent if there are none. */
  readonly simulatedNodes?: { readonly names: readonly string[]; readonly seed: number } | undefined;
  /** Resolves with the reason when the store takes no more writes. Only a new process can then continue. */
  readonly failed: Promise<Error>;
  /** Opens a client without a connection. It acts as an administrator, or as `user` with that user's rights. */
  readonly client: OpenClient;
  /** Makes `/readyz` fail from now on. Other requests are served as usual. */
  beginShutdown(): void;
  /** Refuses new requests, gives running requests at most `graceMs` to end, and closes the store. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export type StartServer = (options?: ServerOptions) => Promise<RunningServer>;

/**
 * Fills in defaults, and checks rules that the types of the flags cannot express.
 * @param environment the environment variables; `XDG_DATA_HOME` is used
 * @throws StartupError that names the flag, the mistake and the remedy
 */
export function resolveOptions(
  options: ServerOptions = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ServerConfig {
  for (const name of flagNames) checkValue(`--${name}`, flags[name], options[optionName(name)]);
  const inMemory = options.inMemory ?? flags["in-memory"].default;
  if (inMemory && options.dataDir !== undefined) {
    throw new StartupError("--in-memory keeps nothing on disk, and --data-dir names a place on disk: give only one");
  }
  const servingProcesses = options.servingProcesses ?? flags["serving-processes"].default;
  if (servingProcesses > 0 && inMemory) {
    throw new StartupError("--serving-processes needs a data directory, and --in-memory has none: give only one");
  }
  if (servingProcesses > 0 && process.platform !== "linux") {
    throw new StartupError("--serving-processes needs Linux, which distributes connections among processes");
  }
  const authorization = authorizationOptionsOf(options);
  const membership = membershipOptionsOf(options, inMemory);
  const etcd = etcdOptionsOf(options);
  if (etcd !== undefined && options.peerAddress !== undefined) {
    throw new StartupError(
      "--peer-address cannot be used with --etcd-servers: start more servers on the same etcd instead",
    );
  }
  if (etcd !== undefined && servingProcesses > 0) {
    throw new StartupError(
      "--serving-processes cannot be used with --etcd-servers: start more servers on the same etcd instead",
    );
  }
  const dataDir = inMemory ? undefined : resolve(options.dataDir ?? defaultDataDir(environment));
  // Each process admits its share. Rounding up keeps a small limit from becoming 0, which means none.
  const share = (limit: number) => Math.ceil(limit / (servingProcesses + 1));
  const maxRequestsInflight = share(options.maxRequestsInflight ?? flags["max-requests-inflight"].default);
  const maxMutatingRequestsInflight = share(
    options.maxMutatingRequestsInflight ?? flags["max-mutating-requests-inflight"].default,
  );
  return {
    bindAddress: options.bindAddress ?? bindAddressOf(membership) ?? flags["bind-address"].default,
    securePort: options.securePort ?? flags["secure-port"].default,
    servingProcesses,
    tlsFiles: pairOf(options.tlsCertFile, options.tlsPrivateKeyFile, "--tls-cert-file and --tls-private-key-file"),
    shutdownDelayDurationMs: options.shutdownDelayDurationMs ?? flags["shutdown-delay-duration"].default,
    livezGracePeriodMs: options.livezGracePeriodMs ?? flags["livez-grace-period"].default,
    dataDir,
    inMemory,
    kubeconfig: kubeconfigPathOf(options.kubeconfig, dataDir),
    membership,
    servingHosts: servingHostsOf(options, membership),
    historyRetentionDurationMs: options.historyRetentionDurationMs ?? flags["history-retention-duration"].default,
    eventTtlMs: options.eventTtlMs ?? flags["event-ttl"].default,
    clientCaFile: options.clientCaFile,
    kubeletCertificateAuthority: options.kubeletCertificateAuthority,
    kubeletPreferredAddressTypes: options.kubeletPreferredAddressTypes,
    // With AlwaysAllow, reject requests without credentials unless a flag accepts them.
    authentication: authenticationOptionsOf(options, !authorization.modes.includes("AlwaysAllow")),
    authorization,
    audit: auditOptionsOf(options),
    encryption: encryptionOptionsOf(options),
    etcd,
    featureGates: resolveFeatureGates(new Map(Object.entries(options.featureGates ?? {}))),
    runtimeConfig: parseRuntimeConfig(new Map(Object.entries(options.runtimeConfig ?? {}))),
    admissionPlugins: admissionPluginsOf(options),
    webhookKubeconfigs:
      options.admissionControlConfigFile === undefined
        ? {}
        : readAdmissionConfiguration(options.admissionControlConfigFile),
    breaksCircuits: options.webhookCircuitBreaker ?? flags["webhook-circuit-breaker"].default,
    routesToEndpoints: options.enableAggregatorRouting ?? flags["enable-aggregator-routing"].default,
    proxyClientFiles: pairOf(
      options.proxyClientCertFile,
      options.proxyClientKeyFile,
      "--proxy-client-cert-file and --proxy-client-key-file",
    ),
    refusesRedirects:
      options.aggregatorRejectForwardingRedirect ?? flags["aggregator-reject-forwarding-redirect"].default,
    bootstrapSignerKey: oneOf("--bootstrap-signer-key", options.bootstrapSignerKey) === "secret" ? "secret" : "token",
    controllers: parseControllers(options.controllers ?? flags.controllers.default),
    nodeCidrRanges: nodeCidrRangesOf(options),
    nodeLifecycle: nodeLifecycleOf(options),
    simulatedNodes: simulatedNodesOf(options),
    terminatedPodsMax: options.terminatedPodGcThreshold ?? flags["terminated-pod-gc-threshold"].default,
    serviceClusterIpRange: options.serviceClusterIpRange ?? flags["service-cluster-ip-range"].default,
    serviceNodePortRange: options.serviceNodePortRange ?? flags["service-node-port-range"].default,
    requestTimeoutMs: options.requestTimeoutMs ?? flags["request-timeout"].default,
    minRequestTimeoutMs: options.minRequestTimeoutMs ?? flags["min-request-timeout"].default,
    fairSeats: fairSeatsOf(options, maxRequestsInflight + maxMutatingRequestsInflight),
    maxRequestsInflight,
    maxMutatingRequestsInflight,
    verbosity: options.verbosity ?? flags.v.default,
    flagTexts: flagTexts(options),
    clock: options.clock ?? systemClock,
  };
}

function admissionPluginsOf(options: ServerOptions): readonly PluginName[] {
  const chosen = chosenPlugins(options.enableAdmissionPlugins ?? [], options.disableAdmissionPlugins ?? []);
  const isDynamic = options.dynamicAdmission ?? flags["dynamic-admission"].default;
  return isDynamic ? chosen : chosen.filter((name) => !dynamicPlugins.has(name));
}

/** @throws StartupError if there are no seats to share */
function fairSeatsOf(options: ServerOptions, seats: number): number | undefined {
  if (!(options.enablePriorityAndFairness ?? flags["enable-priority-and-fairness"].default)) return undefined;
  if (seats > 0) return seats;
  throw new StartupError(
    "--max-requests-inflight and --max-mutating-requests-inflight are both 0: give one of them a value above 0, or " +
      "turn fairness off with --enable-priority-and-fairness=false",
  );
}

/** @throws StartupError for a value that is neither a name nor an address */
function servingHostsOf({ tlsSan = [] }: ServerOptions, membership: MembershipOptions): string[] {
  const wrong = tlsSan.find((host) => !isHost(host));
  if (wrong !== undefined) {
    throw new StartupError(
      `--tls-san: ${JSON.stringify(wrong)} is neither a name nor an address: give one such as api.example`,
    );
  }
  const advertised = advertisedHost(membership);
  return [...new Set([...(advertised === undefined ? [] : [advertised]), ...tlsSan])];
}

/** @throws StartupError for more than one choice */
function oneOf(flag: string, choices: readonly string[] | undefined): string | undefined {
  if (choices !== undefined && choices.length > 1) throw new StartupError(`${flag}: name one`);
  return choices?.[0];
}

/** Checks the bounds of the command line for options in code too. */
function checkValue(flag: string, definition: Flag, value: unknown): void {
  if (value === undefined) return;
  if (typeof value === "number") {
    const { min, max } = boundsMs(definition);
    if (!(value >= min && value <= max)) throw new StartupError(`${flag}: ${value} is not between ${min} and ${max}`);
  }
  if (definition.type === "text" && value === "")
    throw new StartupError(`${flag}: the value is empty: give one or omit the flag`);
  if (definition.type === "choices" && Array.isArray(value)) {
    const unknown = value.find((choice) => !definition.allowed.includes(choice));
    if (unknown !== undefined || value.length === 0) {
      throw new StartupError(
        `${flag}: ${JSON.stringify(unknown ?? "")} is not one of ${definition.allowed.join(", ")}`,
      );
    }
    if (new Set(value).size < value.length) throw new StartupError(`${flag}: a mode is named twice: name each once`);
  }
}

function boundsMs(definition: Flag): { min: number; max: number } {
  if (definition.type === "integer" || definition.type === "number") return definition;
  if (definition.type === "seconds") return { min: definition.min * 1_000, max: definition.max * 1_000 };
  return { min: 0, max: Number.MAX_SAFE_INTEGER };
}

/** Returns the files of a certificate and its key. @param flags their names, for messages */
function pairOf(certificate: string | undefined, key: string | undefined, flags: string): ServerConfig["tlsFiles"] {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate !== undefined && key !== undefined) return { certificate, key };
  throw new StartupError(`${flags} belong together: give both or neither`);
}

function kubeconfigPathOf(asked: string | undefined, dataDir: string | undefined): string | undefined {
  if (asked !== undefined) return resolve(asked);
  return dataDir === undefined ? undefined : join(dataDir, "kubeconfig");
}

/** Returns the default data directory. A relative value is ignored, as the XDG rules demand. */
export function defaultDataDir(environment: Readonly<Record<string, string | undefined>>): string {
  const base = environment.XDG_DATA_HOME;
  return join(base?.startsWith("/") === true ? base : join(homedir(), ".local", "share"), "quorate");
}
