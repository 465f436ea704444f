import { isIP } from "node:net";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import type { AgentOptions, RuntimeChoice, ServingCertificateChoice } from "../../agent/agent-options.ts";
import { nodeDefaults } from "../../agent/node/node-settings.ts";
import type { Address } from "../../agent/serving/endpoint-options.ts";
import { isDnsSubdomain } from "../../api/dns-name.ts";
import { labelKeyErrors, labelValueErrors } from "../../api/label-syntax.ts";
import { isRestrictedNodeLabel } from "../../api/node-labels.ts";
import { addQuantities, formatQuantity, parseQuantity, QuantityError } from "../../api/quantity.ts";
import type { ResourceList, Taint } from "../../api/types/core-v1.ts";
import { StartupError } from "../../process/startup-error.ts";
import { type AgentFlagValues, agentFlagTexts, agentFlagValue } from "./agent-flags.ts";
import { evictionHardOf, evictionOf } from "./eviction-options.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
/** Directory in which other programs expect the logs of a container runtime's pods. */
const criLogDirectory = "/var/log/pods";

/**
 * Turns the flags of `quorate agent` into its options.
 * @throws StartupError that names the flag
 */
export function toAgentOptions(flags: AgentFlagValues, environment: Environment = process.env): AgentOptions {
  const rootDirectory = resolve(flags["root-dir"] ?? defaultRootDirectory(environment));
  const name = nodeName(flags["hostname-override"]);
  const runtime = runtimeOf(flags);
  const logDirectory = runtime.kind === "cri" ? criLogDirectory : join(rootDirectory, "pod-logs");
  return {
    kubeconfig: resolve(flags.kubeconfig ?? join(rootDirectory, "kubeconfig")),
    rootDirectory,
    certificateDirectory: resolve(flags["cert-dir"] ?? join(rootDirectory, "pki")),
    node: {
      ...nodeDefaults,
      name,
      hostname: name,
      registers: agentFlagValue(flags, "register-node"),
      labels: labelsOf(flags["node-labels"] ?? []),
      taints: (flags["register-with-taints"] ?? []).map(taintOf),
      providerId: flags["provider-id"],
      podsMax: agentFlagValue(flags, "max-pods"),
      reserved: reservedOf(flags),
      evictionHard: evictionHardOf(flags),
      addresses: addressesOf(flags["node-ip"]),
      statusUpdateMs: periodOf("node-status-update-frequency", agentFlagValue(flags, "node-status-update-frequency")),
      statusReportMs: periodOf("node-status-report-frequency", reportFrequencyOf(flags)),
      leaseDurationSeconds: agentFlagValue(flags, "node-lease-duration-seconds"),
    },
    eviction: evictionOf(flags),
    rotatesClientCertificate: agentFlagValue(flags, "rotate-certificates"),
    runtime,
    logDirectory: resolve(flags["pod-logs-dir"] ?? logDirectory),
    dns: dnsOf(flags),
    manifestPath: flags["pod-manifest-path"] === undefined ? undefined : resolve(flags["pod-manifest-path"]),
    endpoint: {
      host: agentFlagValue(flags, "address"),
      port: agentFlagValue(flags, "port"),
      healthAddress: addressOn(agentFlagValue(flags, "healthz-bind-address"), agentFlagValue(flags, "healthz-port")),
      readOnlyAddress: addressOn(agentFlagValue(flags, "address"), agentFlagValue(flags, "read-only-port")),
      certificate: certificateOf(flags),
      clientCaFile: flags["client-ca-file"],
      hasDebuggingHandlers: agentFlagValue(flags, "enable-debugging-handlers"),
      anonymous: agentFlagValue(flags, "anonymous-auth"),
      tokenWebhook: agentFlagValue(flags, "authentication-token-webhook"),
      tokenTtlMs: agentFlagValue(flags, "authentication-token-webhook-cache-ttl"),
      authorizationMode: authorizationModeOf(flags),
      authorizedTtlMs: agentFlagValue(flags, "authorization-webhook-cache-authorized-ttl"),
      unauthorizedTtlMs: agentFlagValue(flags, "authorization-webhook-cache-unauthorized-ttl"),
    },
    flagTexts: agentFlagTexts(flags),
  };
}

/** Returns the directory of an agent without --root-dir. */
export function defaultRootDirectory(environment: Environment): string {
  const base = environment["XDG_DATA_HOME"];
  return join(base?.startsWith("/") === true ? base : join(homedir(), ".local", "share"), "quorate-agent");
}

function nodeName(given: string | undefined): string {
  const name = (given ?? hostname()).trim().toLowerCase();
  if (isDnsSubdomain(name)) return name;
  throw new StartupError(
    `--hostname-override: ${JSON.stringify(name)} is not a name of lower-case letters, digits, - and .`,
  );
}

function labelsOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [key = "", value = "", ...rest] = text.split("=");
      const errors = [...labelKeyErrors(key), ...labelValueErrors(value)];
      if (isRestrictedNodeLabel(key)) {
        throw new StartupError(`--node-labels: a node may not set ${key} on itself: use "kubectl label node" instead`);
      }
      if (rest.length === 0 && errors.length === 0) return [key, value] as const;
      throw new StartupError(`--node-labels: ${JSON.stringify(text)} is not <key>=<value>: ${errors.join("; ")}`);
    }),
  );
}

function taintOf(text: string): Taint {
  const at = text.lastIndexOf(":");
  const effect = text.slice(at + 1);
  const [key = "", value, ...rest] = text.slice(0, Math.max(0, at)).split("=");
  const errors = [...labelKeyErrors(key), ...labelValueErrors(value ?? "")];
  if (at > 0 && rest.length === 0 && errors.length === 0 && taintEffects.includes(effect)) {
    return { key, effect, ...(value === undefined ? {} : { value }) };
  }
  const form = `<key>=<value>:<effect> with one of ${taintEffects.join(", ")}`;
  throw new StartupError(`--register-with-taints: ${JSON.stringify(text)} is not ${form}`);
}

function reservedOf(flags: AgentFlagValues): ResourceList {
  const reserved: ResourceList = {};
  for (const name of ["kube-reserved", "system-reserved"] as const) {
    for (const text of flags[name] ?? []) {
      const [resource = "", amount = "", ...rest] = text.split("=");
      try {
        if (resource === "" || rest.length > 0) throw new QuantityError("");
        const sum = addQuantities(parseQuantity(amount), parseQuantity(String(reserved[resource] ?? "0")));
        reserved[resource] = formatQuantity(sum);
      } catch (error) {
        if (!(error instanceof QuantityError)) throw error;
        throw new StartupError(`--${name}: ${JSON.stringify(text)} is not <resource>=<quantity>, such as cpu=500m`);
      }
    }
  }
  return reserved;
}

function addressesOf(texts: readonly string[] | undefined): readonly string[] | undefined {
  const wrong = texts?.find((text) => isIP(text) === 0);
  if (wrong !== undefined) throw new StartupError(`--node-ip: ${JSON.stringify(wrong)} is not an IP address`);
  const families = (texts ?? []).map(isIP);
  if (new Set(families).size < families.length) {
    throw new StartupError("--node-ip: give one address, or one of each IP family");
  }
  return texts;
}

/** Returns undefined for port 0, which turns a port without TLS off. */
function addressOn(host: string, port: number): Address | undefined {
  return port === 0 ? undefined : { host, port };
}

function dnsOf(flags: AgentFlagValues): AgentOptions["dns"] {
  const servers = flags["cluster-dns"] ?? [];
  const wrong = servers.find((text) => isIP(text) === 0);
  if (wrong !== undefined) throw new StartupError(`--cluster-dns: ${JSON.stringify(wrong)} is not an IP address`);
  const domain = agentFlagValue(flags, "cluster-domain");
  if (isDnsSubdomain(domain)) return { servers, domain };
  throw new StartupError(`--cluster-domain: ${JSON.stringify(domain)} is not a domain`);
}

/** Upstream reports as often as it checks if only the interval of the checks is given. */
function reportFrequencyOf(flags: AgentFlagValues): number {
  const update = flags["node-status-update-frequency"];
  return flags["node-status-report-frequency"] ?? update ?? agentFlagValue(flags, "node-status-report-frequency");
}

function periodOf(name: string, ms: number): number {
  const msMin = 100;
  if (ms >= msMin) return ms;
  throw new StartupError(`--${name}: ${ms}ms is too short: give at least ${msMin}ms`);
}

function runtimeOf(flags: AgentFlagValues): RuntimeChoice {
  const [kind = "", ...others] = agentFlagValue(flags, "runtime");
  if (others.length > 0) throw new StartupError("--runtime: give only one of simulated, process, cri");
  if (kind !== "cri") {
    if (flags["container-runtime-endpoint"] !== undefined) {
      throw new StartupError("--container-runtime-endpoint: only --runtime cri uses it");
    }
    return { kind: kind === "simulated" ? "simulated" : "process" };
  }
  return { kind, endpoint: agentFlagValue(flags, "container-runtime-endpoint") };
}

function authorizationModeOf(flags: AgentFlagValues): "Webhook" | "AlwaysAllow" {
  const [mode, ...others] = agentFlagValue(flags, "authorization-mode");
  if (others.length > 0) throw new StartupError("--authorization-mode: give Webhook or AlwaysAllow");
  return mode === "AlwaysAllow" ? "AlwaysAllow" : "Webhook";
}

function certificateOf(flags: AgentFlagValues): ServingCertificateChoice {
  const [certificate, key] = [flags["tls-cert-file"], flags["tls-private-key-file"]];
  if ((certificate === undefined) !== (key === undefined)) {
    throw new StartupError("--tls-cert-file and --tls-private-key-file: give both or none");
  }
  const isRequested = flags["rotate-server-certificates"] === true;
  if (certificate === undefined || key === undefined) return { kind: isRequested ? "cluster" : "own" };
  if (isRequested) throw new StartupError("--rotate-server-certificates: leave out --tls-cert-file");
  return { kind: "files", certificate, key };
}
