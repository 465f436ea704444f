import { readFileSync } from "node:fs";
import type { KeyPair } from "../access/certificates/authority.ts";
import { fileCheckIntervalMs } from "../access/certificates/changed-files.ts";
import type { ListenerTls } from "../access/certificates/identity.ts";
import type { JsonObject } from "../api/json.ts";
import type { Client } from "../client/client.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/logs.ts";
import { orStartupError } from "../process/or-startup-error.ts";
import { RepeatedTask } from "../process/repeated-task.ts";
import { StartupError } from "../process/startup-error.ts";
import { thrownText } from "../process/thrown-text.ts";
import type { AgentEndpointOptions, AgentOptions } from "./agent-options.ts";
import { evictionConfiguration } from "./eviction/eviction-configuration.ts";
import type { AgentPaths } from "./join/agent-paths.ts";
import { ownCertificate } from "./join/own-certificate.ts";
import { requestCertificate } from "./join/request-certificate.ts";
import { RotatingCertificate } from "./join/rotating-certificate.ts";
import { machineStats } from "./machine-stats.ts";
import type { MeasuredMachine } from "./node/measured-machine.ts";
import type { PodDirectory } from "./pods/pod-directory.ts";
import { type Endpoint, openEndpoint } from "./serving/endpoint.ts";
import { exposition, type MetricFamily } from "./serving/stats/exposition.ts";

/** Grace period for running requests at the end. */
const closeGraceMs = 2_000;
const logsDirectory = "/var/log";

export interface AgentEndpointParts {
  readonly options: AgentOptions;
  readonly client: Client;
  /** Authorities of clients by default, PEM. */
  readonly authority: string | undefined;
  readonly paths: AgentPaths;
  readonly directory: PodDirectory;
  /** Throws if the pods have not been looked after for a while. */
  readonly requireSync: () => void;
  readonly machine: MeasuredMachine;
  /** Returns metrics of other parts. */
  readonly metrics: () => readonly MetricFamily[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onError: (error: unknown) => void;
}

/** The HTTPS endpoint with its certificate. */
export interface AgentEndpoint extends AsyncDisposable {
  /** Port that the Node reports. */
  readonly port: number;
}

/**
 * Opens the endpoint. With a certificate of the cluster, it opens when somebody has approved the first one. Afterwards it
 * follows its certificate and the authorities of its clients.
 * @throws StartupError for files or a port that cannot be used
 */
export async function openAgentEndpoint(parts: AgentEndpointParts): Promise<AgentEndpoint> {
  const { options, authority, clock, onError } = parts;
  const { port, clientCaFile } = options.endpoint;
  await using opened = new AsyncDisposableStack();
  let endpoint: Endpoint | undefined;
  let updating = Promise.resolve();
  let updates: RepeatedTask | undefined;
  let used: string | undefined;
  let problem: string | undefined;
  opened.defer(async () => {
    await updating;
    await endpoint?.close(closeGraceMs);
  });
  const currentPair = await servingPair(parts, opened, () => updates?.runNow());
  const update = async () => {
    const pair = currentPair();
    if (pair === undefined) return;
    const ca = clientCaFile === undefined ? authority : readFile("--client-ca-file", clientCaFile);
    const tls = { key: pair.key, cert: pair.certificate, ca: ca === undefined ? [] : [ca] };
    const text = JSON.stringify(tls);
    if (text === used) return;
    if (endpoint === undefined) endpoint = await open(parts, tls);
    else endpoint.reload(tls);
    used = text;
  };
  const tryUpdate = async () => {
    try {
      await update();
      problem = undefined;
    } catch (error) {
      const found = thrownText(error);
      if (found !== problem) onError(error);
      problem = found;
    }
  };
  await update();
  const run = async () => {
    updating = tryUpdate();
    await updating;
    return fileCheckIntervalMs;
  };
  updates = opened.use(new RepeatedTask(clock, run, fileCheckIntervalMs));
  const kept = opened.move();
  return { port: endpoint?.port ?? port, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/**
 * Returns a function that returns the current certificate of the endpoint; undefined until the cluster issues the first.
 * @param into ends the renewal
 */
async function servingPair(
  parts: AgentEndpointParts,
  into: AsyncDisposableStack,
  onRenewed: () => void,
): Promise<() => KeyPair | undefined> {
  const { options, paths, machine, clock } = parts;
  const { certificate, port } = options.endpoint;
  const { hostname, addresses } = options.node;
  if (certificate.kind === "files") {
    return () => ({
      certificate: readFile("--tls-cert-file", certificate.certificate),
      key: readFile("--tls-private-key-file", certificate.key),
    });
  }
  if (certificate.kind === "own") {
    const own = await ownCertificate(paths, { hostname, ipAddresses: addresses ?? machine.addresses }, clock);
    return () => own;
  }
  if (port === 0) throw new StartupError("--port: a certificate of the cluster needs a fixed port");
  const requested = into.use(await requestedCertificate(parts, onRenewed));
  return () => requested.current;
}

async function open(parts: AgentEndpointParts, tls: ListenerTls): Promise<Endpoint> {
  const { options, client, directory, requireSync, machine, metrics, clock, log } = parts;
  const { endpoint, rootDirectory, node } = options;
  const opening = openEndpoint({
    host: endpoint.host,
    port: endpoint.port,
    healthAddress: endpoint.healthAddress,
    readOnlyAddress: endpoint.readOnlyAddress,
    tls,
    access: endpoint,
    switches: { enableDebuggingHandlers: endpoint.hasDebuggingHandlers },
    rootDir: rootDirectory,
    logsDir: logsDirectory,
    directory,
    client,
    clock,
    log,
    nodeNameOf: () => node.name,
    nodeStats: () => machineStats(machine, clock.nowMs()),
    metrics: () => exposition(metrics()),
    configuration: () => configurationOf(options),
    flags: () => options.flagTexts,
    checks: [{ name: "syncloop", check: requireSync }],
  });
  return await opening.catch((error: NodeJS.ErrnoException & { port?: number }) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new StartupError(takenPortText(endpoint, error.port ?? endpoint.port));
  });
}

function takenPortText({ healthAddress, readOnlyAddress }: AgentEndpointOptions, port: number): string {
  let flag = "--port (0 picks one)";
  if (port === healthAddress?.port) flag = "--healthz-port (0 turns it off)";
  if (port === readOnlyAddress?.port) flag = "--read-only-port (0 turns it off)";
  return `port ${port} is in use: choose another one with ${flag}`;
}

function requestedCertificate(
  { options, client, paths, machine, clock, random, onError }: AgentEndpointParts,
  onChanged: () => void,
): Promise<RotatingCertificate> {
  const { name, hostname, addresses: given } = options.node;
  return RotatingCertificate.open({
    file: paths.servingCertificate,
    signer: "kubernetes.io/kubelet-serving",
    clock,
    random,
    subject() {
      // A certificate for the loopback address would have to be approved once more when the network has started.
      if (given === undefined && !machine.hasNetwork) return undefined;
      return { nodeName: name, dnsNames: [hostname], ipAddresses: given ?? machine.addresses };
    },
    request: (wanted) => requestCertificate({ client, clock, random, onError }, wanted),
    onChanged,
    onError,
  });
}

function readFile(flag: string, file: string): string {
  return orStartupError(flag, () => readFileSync(file, "utf8"));
}

/** Returns the configuration in the names of kubelet's, without any credential. */
function configurationOf(options: AgentOptions): JsonObject {
  const { node, endpoint, rootDirectory, manifestPath, logDirectory } = options;
  const seconds = (ms: number) => `${ms / 1_000}s`;
  return {
    kind: "KubeletConfiguration",
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    address: endpoint.host,
    port: endpoint.port,
    authentication: {
      anonymous: { enabled: endpoint.anonymous },
      webhook: { enabled: endpoint.tokenWebhook, cacheTTL: seconds(endpoint.tokenTtlMs) },
      x509: endpoint.clientCaFile === undefined ? {} : { clientCAFile: endpoint.clientCaFile },
    },
    authorization: {
      mode: endpoint.authorizationMode,
      webhook: {
        cacheAuthorizedTTL: seconds(endpoint.authorizedTtlMs),
        cacheUnauthorizedTTL: seconds(endpoint.unauthorizedTtlMs),
      },
    },
    enableDebuggingHandlers: endpoint.hasDebuggingHandlers,
    enableProfilingHandler: false,
    enableDebugFlagsHandler: false,
    ...evictionConfiguration(options.eviction),
    healthzBindAddress: endpoint.healthAddress?.host ?? "127.0.0.1",
    healthzPort: endpoint.healthAddress?.port ?? 0,
    readOnlyPort: endpoint.readOnlyAddress?.port ?? 0,
    maxPods: node.podsMax,
    nodeLeaseDurationSeconds: node.leaseDurationSeconds,
    nodeStatusReportFrequency: seconds(node.statusReportMs),
    nodeStatusUpdateFrequency: seconds(node.statusUpdateMs),
    podLogsDir: logDirectory,
    registerNode: node.registers,
    rotateCertificates: options.rotatesClientCertificate,
    serverTLSBootstrap: endpoint.certificate.kind === "cluster",
    staticPodPath: manifestPath ?? "",
    rootDirectory,
  };
}
