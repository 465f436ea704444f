import { randomInt } from "node:crypto";
import { rbacEscalation } from "../admission/rbac-escalation.ts";
import { messageDecoder } from "../access/audit/decode-message.ts";
import { openAudit, type OpenAudit } from "../access/audit/open-audit.ts";
import { openAuthorization, type ServerAuthorization } from "../access/authorization/server-authorization.ts";
import type { CacherMetrics } from "../storage/cacher/cacher.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { encodeStatus } from "../api/codec/encode-object.ts";
import { contentTypeOf, negotiate } from "../http/negotiate.ts";
import { openMemberGossip } from "../cluster/member-gossip.ts";
import { openMember, type OpenMember } from "../cluster/open-member.ts";
import { startSelfPromotion } from "../cluster/self-promotion.ts";
import { type RunningServer, resolveOptions, type ServerConfig, type ServerOptions } from "./config/server-options.ts";
import { StartupError } from "../process/startup-error.ts";
import { ensureDefaultRbac, rbacRegistries } from "../controllers/default-rbac.ts";
import { DefaultFlowControl } from "../controllers/default-flow-control.ts";
import { ensurePriorityClasses } from "../controllers/default-priority-classes.ts";
import { EventExpiry } from "../controllers/event-expiry.ts";
import { type ServerControllers, startServerControllers } from "../controllers/server-controllers.ts";
import { ServerRecords } from "../controllers/server-records.ts";
import { SystemNamespaces } from "../controllers/system-namespaces.ts";
import { type AppOptions, type AppPlugin, buildApp } from "../http/app.ts";
import { clusterPlugin } from "../http/cluster/cluster-plugin.ts";
import { connectionsOf } from "../http/connect/connectors.ts";
import { serveUpgrades } from "../http/connect/serve-upgrade.ts";
import { discoveryRoute } from "../http/discovery/discovery-route.ts";
import { indexRoute } from "../http/discovery/index-route.ts";
import type { EncodeStatus } from "../http/error-response.ts";
import { header } from "../request/exchange.ts";
import { type AuditOptions, audit, auditResponse } from "../http/filters/audit.ts";
import { impersonation } from "../http/filters/impersonation.ts";
import { catalogServer, resourceHandler } from "../http/handlers/resources.ts";
import { type Gossip, noGossip } from "../cluster/gossip/gossip.ts";
import {
  failingChecks,
  type HealthCheck,
  healthEndpoints,
  healthHandler,
  pingCheck,
  quorumCheck,
  shutdownCheck,
  storeCheck,
} from "../http/health.ts";
import { Lifecycle } from "../http/lifecycle.ts";
import { listen, type Listener } from "../http/listener.ts";
import { openApiRoute } from "../http/openapi/openapi-route.ts";
import { gitVersion, versionRoute } from "../http/version.ts";
import { auditMetrics } from "./metrics/audit-metrics.ts";
import { countAuthentications } from "./metrics/authentication-metrics.ts";
import { countDecisions } from "./metrics/authorization-metrics.ts";
import { type Log, openLog } from "../process/logs.ts";
import { gossipMetrics } from "./metrics/gossip-metrics.ts";
import { exposeFeatureGates } from "./metrics/feature-gate-metric.ts";
import { countMismatches } from "./metrics/mismatch-metric.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { StoreMetrics } from "./metrics/store-metrics.ts";
import { openAuthentication, type ServerAuthentication } from "../access/authentication/server-authentication.ts";
import { defaultJwksUri, openIdPlugin } from "../http/openid.ts";
import { ServerIdentity } from "../access/certificates/identity.ts";
import { openServerId } from "../access/certificates/server-id.ts";
import { Endpoints } from "../registry/endpoints.ts";
import type { KindParts } from "../registry/kind.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import type { ServiceNetwork } from "../kinds/service-allocation/service-allocation.ts";
import { parseServiceNetwork } from "../kinds/service-allocation/service-network.ts";
import { DeclarativeValidation } from "../registry/declarative/declarative-validation.ts";
import type { Catalog } from "../registry/catalog.ts";
import type { Registries } from "../registry/registries.ts";
import { openRegistries, type ServerRegistries } from "./registries.ts";
import { Scheme } from "../kinds/scheme.ts";
import { GatedFields } from "../api/schema/gated-fields.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { Retention } from "../storage/retention.ts";
import type { Store } from "../storage/store.ts";
import { untilAvailable } from "../storage/until-available.ts";

const closeGraceMsDefault = 10_000;

/**
 * Builds every part of a server once, wires it up and listens. Resolves when `/readyz` answers 200.
 * In-process servers keep everything in memory unless a data directory is given; several can run side by side.
 * @throws StartupError, one line that says what is wrong and what to do
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const config = resolveOptions(inMemoryByDefault(options));
  const log = await openLog({ verbosity: config.verbosity });
  const { dataDir, clock } = config;
  const member =
    dataDir === undefined ? undefined : await openMember(config, dataDir, { log, metrics: new StoreMetrics() });
  const store = member?.store ?? new MemoryStore({ clock });
  try {
    const server = await startOn({ store, member }, config, log);
    let closed: Promise<void> | undefined;
    const close: RunningServer["close"] = (closing) => (closed ??= server.close(closing).then(() => store.close()));
    return { ...server, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A server on a store that others use too: closing the server leaves the store open. */
export async function startServerOn(store: Store, options: ServerOptions = {}): Promise<RunningServer> {
  const config = resolveOptions(inMemoryByDefault(options));
  return startOn({ store, member: undefined }, config, await openLog({ verbosity: config.verbosity }));
}

interface Storage {
  readonly store: Store;
  /** Undefined in memory. */
  readonly member: OpenMember | undefined;
}

async function startOn(storage: Storage, config: ServerConfig, log: Log): Promise<RunningServer> {
  const disposables = new DisposableStack();
  try {
    return await wireUp(storage, config, log, disposables);
  } catch (error) {
    disposables.dispose();
    throw error;
  }
}

async function wireUp(
  { store, member }: Storage,
  config: ServerConfig,
  log: Log,
  disposables: DisposableStack,
): Promise<RunningServer> {
  const { clock } = config;
  const gateEnabled = (gate: string) => config.featureGates.enabled(gate);
  const scheme = Scheme.builtIn({ runtimeConfig: config.runtimeConfig, gateEnabled });
  const catalog = builtInCatalog(scheme);
  const metrics = createMetrics({
    isServed: ({ group, version, resource }) => catalog.find(group, version, resource) !== undefined,
  });
  const cachers = disposables.adopt(new CacherSet({ store, clock, metrics: watchMetrics(catalog, metrics) }), (set) =>
    set.close(),
  );
  const onError = (error: unknown) => log.error("a part of the server failed", { error });
  const isGateOn = config.featureGates.enabled;
  const authorization = disposables.use(
    orStartupError(() => openAuthorization({ options: config.authorization, scheme, store, clock, isGateOn, onError })),
  );
  const audited =
    config.audit === undefined
      ? undefined
      : openAudit(config.audit, { clock, metrics: auditMetrics(metrics.registry), onError });
  const serverId = await openServerId(config.dataDir);
  const creationsEnded = () => registries.creations.ended();
  const servers = disposables.use(new ServerRecords({ id: serverId, store, clock, creationsEnded, onError }));
  const opened = openRegistries({
    catalog,
    store,
    cachers,
    clock,
    randomInt: (below) => randomInt(below),
    servers,
    gatedFields: new GatedFields(gateEnabled),
    declarative: declarativeValidation(gateEnabled, metrics),
    serviceNetwork: serviceNetworkOf(config),
    admissionPlugins: config.admissionPlugins,
    authorizer: authorization.authorizer,
    admissionGuards: [rbacEscalation(authorization)],
  });
  const { registries } = opened;
  exposeFeatureGates(metrics.registry, config.featureGates.list());
  member?.metrics.register(metrics.registry, member.cluster);
  metrics.trackStorageObjects(() => objectCounts(registries));

  const namespaces = registries.builtIn({ group: "", resource: "namespaces" });
  const systemNamespaces = new SystemNamespaces(namespaces);
  await untilAvailable(store, () => systemNamespaces.ensure());
  disposables.use(systemNamespaces.start(clock, onError));
  const rbac = rbacRegistries(registries);
  const events = registries.builtIn({ group: "", resource: "events" });
  const mayAct = () => member?.cluster.confirmLeader() ?? true;
  disposables.use(new EventExpiry({ events, store, clock, ttlMs: config.eventTtlMs, mayAct, onError }).start());
  const retentionMs = config.historyRetentionDurationMs;
  disposables.use(new Retention({ store, clock, retentionMs, mayAct, onError }).start());

  const [identity] = await Promise.all([
    ServerIdentity.open(config),
    rbac === undefined ? undefined : untilAvailable(store, () => ensureDefaultRbac(rbac, isGateOn)),
    untilAvailable(store, () => ensurePriorityClasses(registries)),
    untilAvailable(store, () => new DefaultFlowControl(registries).ensure()),
  ]);
  registries.creations.holdUntil(servers.join());
  let gossip = noGossip;
  const authentication = disposables.use(
    openAuthentication({
      options: config.authentication,
      ownTokens: identity.tokenFile,
      ownSigningKey: identity.serviceAccountKey,
      scheme,
      store,
      clock,
      onError,
      certificateUids: isGateOn("AllowParsingUserUIDFromCertAuth"),
      onRefused: (reason) => log.debug("a credential was refused", { reason }),
      onKeyWithdrawn: () => gossip.invalidate("issuerKeys"),
    }),
  );
  const lifecycle = new Lifecycle();
  const checks = [
    pingCheck,
    storeCheck(store),
    quorumCheck(store, clock),
    ...rbacCheck({ scheme, authorization }),
    shutdownCheck(lifecycle),
  ];
  const app = buildApp(
    appOptions({
      config,
      scheme,
      catalog,
      store,
      registries,
      admission: opened.admission,
      metrics,
      lifecycle,
      log,
      identity,
      authentication,
      authorization,
      audited,
      member,
      checks,
      heard: () => gossip.peers(),
    }),
  );
  // What is told to the API of another authority is in use when it answers.
  if (member !== undefined) disposables.use(member.keepFresh(onError));
  const listener = await listenOn(config, identity, app, onError);
  disposables.use(identity.keepFresh(clock, (tls) => listener.reload(tls), onError));
  const kubeconfig = await identity.publish(urlOf(config, listener));
  const { bindAddress } = config;
  const controllers = startServerControllers({
    ...opened,
    catalog,
    store,
    clock,
    serverId,
    servers,
    bindAddress,
    port: listener.port,
    authorizer: authorization.authorizer,
    issuer: authentication.issuer,
    secretTokenUses: authentication.secretTokenUses,
    authority: () => identity.issuer,
    clientAuthorities: () => identity.tls().ca.join(""),
    frontProxy: config.authentication.frontProxy && {
      ...config.authentication.frontProxy,
      authority: () => identity.tls().frontProxyCa,
    },
    ca: { pem: () => identity.ca, follow: (run) => identity.follow(run) },
    bootstrapSignerKey: config.bootstrapSignerKey,
    controllers: config.controllers,
    onError,
  });
  if (member !== undefined) {
    const { cluster, directory } = member;
    const { onDropped } = gossipMetrics(metrics.registry, () => gossip.peers());
    const failing = () => failingChecks({ clock, checks }, "readyz");
    const { membership } = config;
    const opened = await openMemberGossip({
      member,
      membership,
      clock,
      log,
      failing,
      release: gitVersion,
      onDropped,
    });
    gossip = opened.gossip;
    disposables.use(gossip.onInvalidate(() => authentication.doubtIssuerKeys()));
    member.announce(listener.port, opened.contact).catch(onError);
    const onProgress = (message: string, fields: Readonly<Record<string, unknown>>) => log.info(message, fields);
    disposables.use(startSelfPromotion({ cluster, directory, clock, identity, onProgress }));
  }
  for (const { key, message } of store.corrupt) log.error("an object cannot be read", { key, reason: message });
  for (const warning of config.featureGates.warnings) log.warn(warning);
  log.info("serving", { url: urlOf(config, listener), revision: store.revision, objects: store.size });
  return runningServer({
    config,
    listener,
    lifecycle,
    disposables,
    controllers,
    identity,
    kubeconfig,
    audited,
    gossip,
    failed: member?.failed ?? new Promise(() => undefined),
  });
}

function declarativeValidation(
  enabled: (gate: string) => boolean,
  { registry }: Pick<ReturnType<typeof createMetrics>, "registry">,
): DeclarativeValidation {
  const takeover = enabled("DeclarativeValidationTakeover");
  return new DeclarativeValidation({ enabled, takeover, onMismatch: countMismatches(registry) });
}

interface AppParts {
  readonly config: ServerConfig;
  readonly scheme: Scheme;
  readonly catalog: Catalog;
  readonly store: Store;
  readonly registries: Registries;
  readonly admission: ServerRegistries["admission"];
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly identity: ServerIdentity;
  readonly authentication: ServerAuthentication;
  readonly authorization: ServerAuthorization;
  readonly audited: OpenAudit | undefined;
  readonly member: OpenMember | undefined;
  readonly checks: readonly HealthCheck[];
  /** What the other members say of themselves. */
  readonly heard: Gossip["peers"];
}

function appOptions(parts: AppParts): AppOptions {
  const { config, scheme, catalog, store, metrics, lifecycle, log } = parts;
  const { clock } = config;
  const auditing = auditingOf(parts);
  const endpoints = endpointsOf(parts);
  const cbor = config.featureGates.enabled("CBORServingAndStorage");
  return {
    chain: {
      clock,
      authenticator: countAuthentications(parts.authentication.authenticator, metrics.registry),
      authorizer: countDecisions(parts.authorization.authorizer, metrics.registry),
      afterAuthentication: [
        ...(auditing === undefined ? [] : [audit(auditing)]),
        impersonation({
          authorizer: parts.authorization.authorizer,
          constrained: config.featureGates.enabled("ConstrainedImpersonation"),
        }),
      ],
      onAnswer: auditing === undefined ? [] : [auditResponse(auditing)],
      lifecycle,
      requestTimeoutMs: config.requestTimeoutMs,
      maxInFlight: { readOnly: config.maxRequestsInflight, mutating: config.maxMutatingRequestsInflight },
      metrics,
      encodeStatus: statusEncoder(cbor),
      onRequest: (outcome, record) => log.requestLog(outcome, record),
      onFault: (error, { auditId }) => log.error("a request failed in an unexpected way", { error, auditId }),
    },
    health: healthHandler({
      clock,
      livezGracePeriodMs: config.livezGracePeriodMs,
      checks: parts.checks,
    }),
    metrics: metrics.handle,
    version: versionRoute().handle,
    resources: resourceHandler([
      catalogServer({
        catalog,
        typeSchema: (name) => scheme.typeSchema(name),
        store,
        clock,
        cbor,
        minRequestTimeoutMs: config.minRequestTimeoutMs,
        randomInt: (below) => (below > 0 ? randomInt(below) : 0),
        metrics,
        authorizer: parts.authorization.authorizer,
        unreadableDeletes: config.featureGates.enabled("AllowUnsafeMalformedObjectDeletion")
          ? parts.authorization.authorizer
          : undefined,
        endpoint: (info, subresource) => endpoints.find(info, subresource),
        admission: parts.admission,
      }),
    ]),
    plugins: documentPlugins(parts),
  };
}

/** What answers for every resource that is served. */
function endpointsOf({
  config,
  catalog,
  store,
  registries,
  authentication,
  authorization,
  identity,
}: AppParts): Endpoints {
  const { clock } = config;
  const { authorizer } = authorization;
  const connections = connectionsOf({
    pods: registries.builtIn({ group: "", resource: "pods" }),
    nodes: registries.builtIn({ group: "", resource: "nodes" }),
    services: registries.builtIn({ group: "", resource: "services" }),
    endpointSlices: registries.builtIn({ group: "discovery.k8s.io", resource: "endpointslices" }),
    authorizer,
    nodeClient: () => identity.nodeClient(clock.nowMs()),
    randomInt: (below) => (below > 0 ? randomInt(below) : 0),
  });
  const tokens = { ...config.authentication.serviceAccounts, ...authentication };
  const registry: KindParts["registry"] = (resource) => registries.builtIn(resource);
  const endpoints = new Endpoints({ store, clock, authorizer, tokens, connections, registry }, (info) =>
    registries.of(info),
  );
  catalog.follow(
    (entry) => endpoints.install(entry),
    (entry) => endpoints.remove(entry),
  );
  return endpoints;
}

/** Under upstream's name: tests of clients wait for it. */
function rbacCheck({ scheme, authorization }: Pick<AppParts, "scheme" | "authorization">): HealthCheck[] {
  if (scheme.find("rbac.authorization.k8s.io", "v1", "clusterroles") === undefined) return [];
  let made = false;
  const check = () => {
    // Once they were made, what becomes of them is the administrator's business.
    made ||= authorization.policy.roleRules("ClusterRole", "cluster-admin", "") !== undefined;
    if (!made) throw new Error("the default roles are not there yet");
  };
  return [{ name: "poststarthook/rbac/bootstrap-roles", endpoints: healthEndpoints, startup: true, check }];
}

function auditingOf({ audited, config, scheme, log }: AppParts): AuditOptions | undefined {
  if (audited === undefined) return undefined;
  const onError = (error: unknown) => log.error("an audit event could not be written", { error });
  return { ...audited, clock: config.clock, decodeProtobuf: messageDecoder(scheme), onError };
}

function clusterPlugins({ member, registries, store, config, identity, heard }: AppParts): AppPlugin[] {
  if (member === undefined) return [];
  const { cluster, peers } = member;
  const secrets = registries.builtIn({ group: "", resource: "secrets" });
  return [clusterPlugin({ cluster, peers, secrets, store, clock: config.clock, identity, version: gitVersion, heard })];
}

function documentPlugins(parts: AppParts): AppPlugin[] {
  const { scheme, catalog, config, authentication } = parts;
  const address = `${config.bindAddress}:${config.securePort}`;
  const { issuers, jwksUri } = config.authentication.serviceAccounts;
  const plugins: AppPlugin[] = [
    ...clusterPlugins(parts),
    pluginOf("discovery", discoveryRoute(catalog, address)),
    pluginOf(
      "openapi",
      openApiRoute({ catalog, typeOf: (name) => scheme.typeSchema(name), version: gitVersion }, config.clock),
    ),
    openIdPlugin({
      issuer: issuers[0] ?? "",
      keys: authentication.verificationKeys,
      jwksUri: jwksUri ?? defaultJwksUri(`https://${address}`),
    }),
  ];
  const always = ["/healthz", "/livez", "/readyz", "/metrics", "/version"];
  const paths = () => [...always, ...plugins.flatMap((plugin) => plugin.paths)];
  return [...plugins, pluginOf("index", indexRoute(paths))];
}

/** The paths are asked for each time: they change with the catalog. */
function pluginOf(name: string, route: Pick<AppPlugin, "paths" | "handle">): AppPlugin {
  return {
    name,
    get paths() {
      return route.paths;
    },
    handle: route.handle,
  };
}

/** Errors are written in the type that the client accepts; where nothing fits, as JSON. */
function statusEncoder(cbor: boolean): EncodeStatus {
  return (status, exchange) => {
    const representation = negotiate(header(exchange.request, "accept"), {
      endpoint: "status",
      query: exchange.info.query,
      userAgent: header(exchange.request, "user-agent"),
      cbor,
      tables: false,
    });
    return { body: encodeStatus(status, representation), contentType: contentTypeOf(representation, false) };
  };
}

function serviceNetworkOf({ serviceClusterIpRange, serviceNodePortRange }: ServerConfig): ServiceNetwork {
  return orStartupError(() => parseServiceNetwork(serviceClusterIpRange, serviceNodePortRange));
}

/** What fails here fails for what the user said. */
function orStartupError<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new StartupError((error as Error).message);
  }
}

async function listenOn(
  config: ServerConfig,
  identity: ServerIdentity,
  handle: Parameters<typeof listen>[0]["handle"],
  onError: (error: unknown) => void,
): Promise<Listener> {
  const { bindAddress: host, securePort: port } = config;
  try {
    const upgrade = serveUpgrades(handle, onError);
    return await listen({ host, port, tls: identity.tls(), handle, upgrade, onError });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "EADDRINUSE") {
      throw new StartupError(
        `port ${port} of ${host} is in use: stop the other process or choose another --secure-port`,
      );
    }
    if (code === "EADDRNOTAVAIL" || code === "EACCES") {
      throw new StartupError(
        `cannot listen on ${host}:${port} (${code}): choose another --bind-address or --secure-port`,
      );
    }
    throw error;
  }
}

interface RunningParts {
  readonly config: ServerConfig;
  readonly listener: Listener;
  readonly lifecycle: Lifecycle;
  readonly disposables: DisposableStack;
  readonly controllers: ServerControllers;
  readonly identity: ServerIdentity;
  readonly kubeconfig: string;
  readonly audited: OpenAudit | undefined;
  readonly gossip: Gossip;
  readonly failed: RunningServer["failed"];
}

function runningServer(parts: RunningParts): RunningServer {
  const { config, listener, lifecycle, disposables, controllers, identity, kubeconfig, audited, gossip } = parts;
  let closing: Promise<void> | undefined;
  async function stop(graceMs: number): Promise<void> {
    await controllers.leave();
    lifecycle.advance("refusing");
    await listener.close(graceMs);
    lifecycle.advance("stopped");
    await gossip.close();
    await controllers.stop();
    await audited?.backend.close();
    disposables.dispose();
  }
  return {
    url: urlOf(config, listener),
    port: listener.port,
    kubeconfig,
    ...(config.kubeconfig === undefined ? {} : { kubeconfigPath: config.kubeconfig }),
    token: identity.token,
    ca: identity.ca,
    failed: parts.failed,
    beginShutdown() {
      lifecycle.advance("leaving");
      gossip.announce();
      void controllers.leave();
    },
    close({ graceMs = closeGraceMsDefault } = {}) {
      closing ??= stop(graceMs);
      return closing;
    },
  };
}

/** Code that asks for no directory gets none; the command line always names one or says `--in-memory`. */
function inMemoryByDefault(options: ServerOptions): ServerOptions {
  const inMemory = options.inMemory ?? options.dataDir === undefined;
  return { ...options, inMemory, securePort: options.securePort ?? 0 };
}

function urlOf(config: ServerConfig, listener: Listener): string {
  const any = config.bindAddress === "0.0.0.0" || config.bindAddress === "::";
  const host = any ? "127.0.0.1" : config.bindAddress;
  return `https://${host.includes(":") ? `[${host}]` : host}:${listener.port}`;
}

function watchMetrics(catalog: Catalog, metrics: ReturnType<typeof createMetrics>): CacherMetrics {
  return {
    sent(prefix, events, bytes) {
      const info = catalog.findPrefix(prefix);
      if (info !== undefined) metrics.watchEvents(info, events, bytes);
    },
  };
}

function* objectCounts(registries: Registries): Generator<readonly [string, number]> {
  for (const { info, cacher } of registries.all()) {
    yield [info.group === "" ? info.resource : `${info.resource}.${info.group}`, cacher.size];
  }
}
