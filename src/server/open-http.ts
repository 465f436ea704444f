import { openAudit } from "../access/audit/open-audit.ts";
import type { ServerIdentity } from "../access/certificates/identity.ts";
import type { Gossip } from "../cluster/gossip/gossip.ts";
import { discoveryCheck } from "../http/aggregation/discovery-check.ts";
import { registrationCheck } from "../http/aggregation/registration-check.ts";
import { buildApp } from "../http/app.ts";
import { serveUpgrades } from "../http/connect/serve-upgrade.ts";
import { collectionSize } from "../http/flow-control/collection-size.ts";
import { FlowControl } from "../http/flow-control/flow-control.ts";
import { storedConfiguration } from "../http/flow-control/stored-configuration.ts";
import { WatchCounts } from "../http/flow-control/watch-counts.ts";
import { withForwarding } from "../http/forwarding/forward-request.ts";
import {
  etcdChecks,
  type HealthCheck,
  healthEndpoints,
  pingCheck,
  quorumCheck,
  shutdownCheck,
  storeCheck,
} from "../http/health.ts";
import { type InProcessClients, inProcessClients } from "../http/in-process-client.ts";
import { Lifecycle } from "../http/lifecycle.ts";
import { type Listener, type ListenerOptions, listen } from "../http/listener.ts";
import type { Eventual } from "../process/eventual.ts";
import type { HttpResponse, IncomingRequest } from "../request/exchange.ts";
import { appOptions } from "./app-options.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { listenError } from "./free-port.ts";
import { auditMetrics } from "./metrics/audit-metrics.ts";
import { flowControlMetrics } from "./metrics/flow-control-metrics.ts";
import { listenerMetrics } from "./metrics/listener-metrics.ts";
import type { ServerApi } from "./open-api.ts";
import type { ServerCredentials } from "./open-identity.ts";
import type { StartContext } from "./start-context.ts";

/** The listener and the application behind it. */
export interface ServerHttp extends AsyncDisposable {
  /** `https://127.0.0.1:6443`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** YAML text of an administrator's kubeconfig for the listener. */
  readonly kubeconfig: string;
  readonly checks: readonly HealthCheck[];
  /** Answers a request that another process of this server has received. */
  readonly handle: (request: IncomingRequest) => Eventual<HttpResponse>;
  /** Opens clients that need no connection. */
  readonly clients: InProcessClients;
  /** Makes `/readyz` fail from now on. Other requests are served as usual. */
  leave(): void;
  /** Answers 503 from now on, because the cluster has removed this member. */
  expel(): void;
  /** Refuses new requests, and waits up to `graceMs` for running ones. */
  drain(graceMs: number): Promise<void>;
}

export interface HttpParts extends StartContext {
  readonly api: ServerApi;
  readonly credentials: ServerCredentials;
  /** The health that other members report about themselves. */
  readonly heard: Gossip["peers"];
}

/** Listens, and writes the kubeconfig. @throws StartupError for an address that cannot be listened on */
export async function openHttp(context: HttpParts): Promise<ServerHttp> {
  await using parts = new AsyncDisposableStack();
  const { config, api, storage, serving, onError } = context;
  const { identity } = context.credentials;
  const { clock } = config;
  const { store, etcd } = storage;
  const sharing = config.servingProcesses === 0 ? undefined : serving === undefined ? "rotates" : "follows";
  const counted = auditMetrics(api.metrics.registry);
  const audited = config.audit && openAudit(config.audit, { clock, sharing, metrics: counted.events, onError });
  parts.defer(() => audited?.backend.close());
  const lifecycle = new Lifecycle();
  const checks = [
    pingCheck,
    ...(etcd === undefined
      ? [storeCheck(store), quorumCheck(store, clock)]
      : etcdChecks(store, etcd.eventStore, clock, etcd.options)),
    ...rbacCheck(api),
    discoveryCheck(api.remoteDiscovery),
    registrationCheck(api.builtInVersions, api.apis),
    ...storage.encryption.checks,
    shutdownCheck(lifecycle),
  ];
  const address = () => addressOf(config, listener);
  const fairness = openFlowControl(config, api);
  if (fairness !== undefined) parts.use(fairness.control.start());
  const served = appOptions({ ...context, lifecycle, address, audited, auditFilter: counted.filter, checks, fairness });
  const app = buildApp(served);
  const handle = serving === undefined ? app : withForwarding(app, serving.requests);
  const listener = await listenOn({ config, identity, handle, onError, ...listenerMetrics(api.metrics.registry) });
  let drained: Promise<void> | undefined;
  const drain = async (graceMs: number) => {
    lifecycle.advance("refusing");
    await listener.close(graceMs);
    lifecycle.advance("stopped");
  };
  parts.defer(() => (drained ??= drain(0)));
  const renews = serving === undefined;
  parts.use(identity.keepFresh({ clock, renews }, (tls) => listener.reload(tls), onError));
  api.listensAt({ host: hostOf(config), port: listener.port });
  // Extension servers recognise us by our certificate, and may call us to authorize our requests.
  for (const downloads of [api.remoteDiscovery, api.remoteOpenApi]) parts.use(downloads.start());
  const url = `https://${address()}`;
  const kubeconfig = await identity.publish(url);
  const kept = parts.move();
  return {
    url,
    port: listener.port,
    kubeconfig,
    checks,
    handle: app,
    clients: inProcessClients({
      ...api.authorization,
      handler: served.resources,
      clock,
      onFault: onError,
      onAnswer: api.metrics.selfRequest,
    }),
    leave: () => lifecycle.advance("leaving"),
    expel: () => lifecycle.advance("removed"),
    drain: (graceMs) => (drained ??= drain(graceMs)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function openFlowControl({ fairSeats, clock }: ServerConfig, { registries, metrics }: ServerApi) {
  if (fairSeats === undefined) return undefined;
  const watches = new WatchCounts();
  const counted = flowControlMetrics(metrics.registry, clock, fairSeats);
  const control = new FlowControl({
    clock,
    seats: fairSeats,
    configuration: storedConfiguration(registries),
    facts: { sizeOf: (info) => collectionSize(registries, info), watchersOf: (info) => watches.reachedBy(info) },
    observer: counted.observer,
  });
  counted.expose(control);
  return { control, watches };
}

/** The check has upstream's name, because tests of clients wait for it. */
function rbacCheck({ scheme, authorization }: Pick<ServerApi, "scheme" | "authorization">): HealthCheck[] {
  if (scheme.find("rbac.authorization.k8s.io", "v1", "clusterroles") === undefined) return [];
  let made = false;
  const check = () => {
    // Later changes to the roles are the administrator's decision.
    made ||= authorization.policy.roleRules("ClusterRole", "cluster-admin", "") !== undefined;
    if (!made) throw new Error("the default roles do not exist yet");
  };
  return [{ name: "poststarthook/rbac/bootstrap-roles", endpoints: healthEndpoints, startup: true, check }];
}

interface ListenParts extends Pick<ListenerOptions, "handle" | "onHandshakeFailed"> {
  readonly config: ServerConfig;
  readonly identity: ServerIdentity;
  readonly onError: (error: unknown) => void;
}

async function listenOn({ config, identity, handle, onHandshakeFailed, onError }: ListenParts): Promise<Listener> {
  const { bindAddress: host, securePort: port } = config;
  try {
    const upgrade = serveUpgrades(handle, onError);
    const reusePort = config.servingProcesses > 0;
    return await listen({ host, port, reusePort, tls: identity.tls(), handle, upgrade, onError, onHandshakeFailed });
  } catch (error) {
    throw listenError(error, config);
  }
}

function addressOf(config: ServerConfig, { port }: Listener): string {
  const host = hostOf(config);
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Returns an address of this machine at which the listener can be reached. */
function hostOf({ bindAddress }: ServerConfig): string {
  return bindAddress === "0.0.0.0" || bindAddress === "::" ? "127.0.0.1" : bindAddress;
}
