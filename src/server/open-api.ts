import { randomInt } from "node:crypto";
import { openAuthorization, type ServerAuthorization } from "../access/authorization/server-authorization.ts";
import { ProxyClient } from "../access/certificates/proxy-client.ts";
import { openServerId, servingProcessId } from "../access/certificates/server-id.ts";
import { rbacEscalation } from "../admission/rbac-escalation.ts";
import type { GroupVersion } from "../api/gvk.ts";
import { GatedFields } from "../api/schema/gated-fields.ts";
import { AggregatedBackends } from "../client/aggregation/aggregated-backend.ts";
import type { IdentityHeaderNames } from "../client/aggregation/identity-headers.ts";
import { type Endpoint, ownServiceResolver, type ServiceLookup } from "../client/service-endpoints.ts";
import { ensureBuiltInApiServices } from "../controllers/aggregation/local-api-services.ts";
import { DefaultFlowControl } from "../controllers/default-flow-control.ts";
import { ensurePriorityClasses } from "../controllers/default-priority-classes.ts";
import { ensureDefaultRbac, rbacRegistries } from "../controllers/default-rbac.ts";
import { EventExpiry } from "../controllers/event-expiry.ts";
import { ServerRecords } from "../controllers/server-records.ts";
import { SystemNamespaces } from "../controllers/system-namespaces.ts";
import { RemoteDiscovery } from "../http/aggregation/remote-discovery.ts";
import { RemoteOpenApi } from "../http/aggregation/remote-openapi.ts";
import { customResourceDefinition } from "../kinds/apiextensions/custom-resource-definition.ts";
import { apiService } from "../kinds/apiregistration/api-service.ts";
import { ApiServices, type ServedApis } from "../kinds/apiregistration/api-services.ts";
import { builtInPriority } from "../kinds/apiregistration/group-priorities.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { event } from "../kinds/core/event.ts";
import { conversionOf } from "../kinds/custom/conversion-of.ts";
import { CustomKinds } from "../kinds/custom/custom-kinds.ts";
import { Scheme } from "../kinds/scheme.ts";
import type { ServiceNetwork } from "../kinds/service-allocation/service-allocation.ts";
import { parseServiceNetwork } from "../kinds/service-allocation/service-network.ts";
import { atMost } from "../process/at-most.ts";
import { StartupError } from "../process/startup-error.ts";
import { type Catalog, groupVersionsOf } from "../registry/catalog.ts";
import { DeclarativeValidation } from "../registry/declarative/declarative-validation.ts";
import type { Registries, ResourceStorage } from "../registry/registries.ts";
import type { CacherMetrics } from "../storage/cacher/cacher.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { Retention } from "../storage/retention.ts";
import type { Store } from "../storage/store.ts";
import { untilAvailable } from "../storage/until-available.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { admissionMetrics } from "./metrics/admission-metrics.ts";
import { aggregationMetrics } from "./metrics/aggregation-metrics.ts";
import { authorizationMetrics } from "./metrics/authorization-metrics.ts";
import { cacheMetrics, readWaitMetrics } from "./metrics/cache-metrics.ts";
import { conditionMetrics } from "./metrics/condition-metrics.ts";
import { exposeFeatureGates } from "./metrics/feature-gate-metric.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { countMismatches } from "./metrics/mismatch-metric.ts";
import { policyMetrics } from "./metrics/policy-metrics.ts";
import { ruleMetrics } from "./metrics/rule-metrics.ts";
import { exposeStorageSize } from "./metrics/storage-size-metric.ts";
import { storeRequestMetrics } from "./metrics/store-request-metrics.ts";
import { openWebhooks } from "./open-webhooks.ts";
import { openRegistries, type ServerRegistries } from "./registries.ts";
import { serviceAddresses, storedServices } from "./service-addresses.ts";
import type { StartContext } from "./start-context.ts";

/** Time for the discovery of extension servers. One that hangs makes the server wait once, but not forever. */
const discoveryMsMax = 10_000;

/** Every served kind, with its rules, caches and objects. */
export interface ServerApi extends ServerRegistries, Disposable {
  readonly scheme: Scheme;
  readonly catalog: Catalog;
  readonly authorization: ServerAuthorization;
  readonly metrics: Metrics;
  readonly serverId: string;
  /** The built-in group versions that have an APIService. */
  readonly builtInVersions: readonly GroupVersion[];
  /** The group versions that APIServices describe, and the connections to the services that answer for them. */
  readonly apis: ServedApis;
  readonly backends: AggregatedBackends;
  /** The resources of extension servers, once it is started. */
  readonly remoteDiscovery: RemoteDiscovery;
  /** The OpenAPI documents of extension servers, once it is started. */
  readonly remoteOpenApi: RemoteOpenApi;
  readonly proxyClient: ProxyClient;
  readonly services: ServiceLookup;
  /** The servers that share the store. */
  readonly servers: ServerRecords;
  /** Tells at which address this server listens. */
  listensAt(endpoint: Endpoint): void;
  /** Resolves when the resources of extension servers are known, or when one of them takes too long. */
  discovered(): Promise<void>;
  /** Creates the objects that every cluster has, if they are missing. */
  ensureDefaults(): Promise<void>;
}

/** Opens the caches, rules and registries of every kind. Resolves once the system namespaces exist. */
export async function openApi(context: StartContext): Promise<ServerApi> {
  using parts = new DisposableStack();
  const { config, serving, onError } = context;
  const { store, member, etcd, encryption } = context.storage;
  const { clock } = config;
  const isGateOn = (gate: string) => config.featureGates.enabled(gate);

  const scheme = Scheme.builtIn({ runtimeConfig: config.runtimeConfig, gateEnabled: isGateOn });
  const catalog = builtInCatalog(scheme);
  const metrics = createMetrics({
    isServed({ group, version, resource, subresource }) {
      const info = catalog.find(group, version, resource);
      return info !== undefined && (subresource === "" || info.subresources.has(subresource));
    },
  });
  const observed = watchMetrics(catalog, metrics);
  const cachedStorage = (kept: Store): ResourceStorage => {
    const cachers = new CacherSet({ store: kept, clock, metrics: observed });
    parts.defer(() => cachers.close());
    return { store: kept, cachers };
  };
  const { cachers } = cachedStorage(store);
  const eventStorage = etcd?.eventStore && cachedStorage(etcd.eventStore);
  const serverId = await openServerId(config.dataDir);
  const own = { onError, observer: authorizationMetrics(metrics.registry, serverId) };
  const authorization = parts.use(
    orStartupError(() => openAuthorization({ ...own, options: config.authorization, scheme, store, clock, isGateOn })),
  );
  const id = serving === undefined ? serverId : servingProcessId(serverId, serving.number);
  const servers = parts.use(new ServerRecords({ id, store, clock, isOnEtcd: etcd !== undefined, onError }));
  const countConditions = conditionMetrics(metrics.registry);
  const services = storedServices(() => registries);
  let listening: Endpoint | undefined;
  const resolve = ownServiceResolver(serviceAddresses(services, config.routesToEndpoints), () => listening);
  const webhooks = openWebhooks({ config, metrics, countConditions, onError, resolve, registries: () => registries });
  const opened = openRegistries({
    catalog,
    store,
    cachers,
    storageOf: ({ group, resource }) =>
      group === event.group && resource === event.resource ? eventStorage : undefined,
    clock,
    randomInt: (below) => randomInt(below),
    servers,
    isOnEtcd: etcd !== undefined,
    isGateOn,
    gatedFields: new GatedFields(isGateOn),
    declarative: declarativeValidation(isGateOn, metrics),
    serviceNetwork: serviceNetworkOf(config),
    admissionPlugins: config.admissionPlugins,
    webhooks,
    admissionObserver: admissionMetrics(metrics.registry, clock),
    policyObserver: policyMetrics(metrics.registry, countConditions),
    authorizer: authorization.authorizer,
    admissionGuards: [rbacEscalation(authorization)],
    observerOf: storeRequestMetrics(metrics.registry),
  });
  const { registries } = opened;
  // The catalog holds no custom kinds yet.
  const builtInVersions = groupVersionsOf(catalog).filter((each) => builtInPriority(each) !== undefined);
  encryption.metrics.register(metrics.registry, serverId, encryption.configHash);
  exposeFeatureGates(metrics.registry, config.featureGates.list());
  member?.metrics.register(metrics.registry, member.cluster);
  etcd?.metrics.register(metrics.registry);
  if (member !== undefined && config.dataDir !== undefined) exposeStorageSize(metrics.registry, config.dataDir);
  cacheMetrics(metrics.registry, () => registries.all());

  const definitions = registries.builtIn(customResourceDefinition);
  parts.use(
    new CustomKinds({
      catalog,
      store,
      prefix: definitions.info.keyPrefix,
      convertBy: (definition) => conversionOf(definition, webhooks.conversion),
      ruleObserver: ruleMetrics(metrics.registry),
      onError,
    }),
  );
  const apiServices = registries.builtIn(apiService);
  const apis = new ApiServices(apiServices, store);
  parts.use(aggregationMetrics(metrics.registry, apis));
  const proxyClient = parts.use(orStartupError(() => new ProxyClient(config.proxyClientFiles, clock, onError)));
  const identityHeaders = identityHeadersOf(config);
  const backends = parts.use(
    new AggregatedBackends({ resolve, proxyClient: () => proxyClient.current, identityHeaders }),
  );
  const remoteDiscovery = new RemoteDiscovery({ apis, backends, clock, random: Math.random });
  const remoteOpenApi = new RemoteOpenApi({ apis, backends, clock, random: Math.random });
  if (serving === undefined) {
    await openNamespaces(context, registries, parts);
    removeOldData(context, registries, parts);
  }
  const kept = parts.move();
  return {
    ...opened,
    scheme,
    catalog,
    authorization,
    metrics,
    serverId,
    builtInVersions,
    apis,
    backends,
    remoteDiscovery,
    remoteOpenApi,
    proxyClient,
    services,
    servers,
    listensAt(endpoint) {
      listening = endpoint;
    },
    discovered: () => atMost(clock, discoveryMsMax, remoteDiscovery.synced),
    async ensureDefaults() {
      const rbac = rbacRegistries(registries);
      await Promise.all([
        rbac === undefined ? undefined : untilAvailable(store, () => ensureDefaultRbac(rbac, clock, isGateOn)),
        untilAvailable(store, () => ensureBuiltInApiServices({ registry: apiServices, apis }, builtInVersions)),
        untilAvailable(store, () => ensurePriorityClasses(registries)),
        untilAvailable(store, () => new DefaultFlowControl(registries).ensure()),
      ]);
    },
    [Symbol.dispose]: () => kept.dispose(),
  };
}

/** Creates the system namespaces, now and whenever one is deleted. */
async function openNamespaces(
  { config, storage, onError }: StartContext,
  registries: Registries,
  parts: DisposableStack,
): Promise<void> {
  const namespaces = new SystemNamespaces(registries.builtIn({ group: "", resource: "namespaces" }));
  await untilAvailable(storage.store, () => namespaces.ensure());
  parts.use(namespaces.start(config.clock, onError));
}

/**
 * Removes expired Events and old history. In a cluster, the leader does this for all. In etcd, Events expire by leases.
 */
function removeOldData(context: StartContext, registries: Registries, parts: DisposableStack): void {
  const { config, onError } = context;
  const { store, member, etcd } = context.storage;
  const { clock, eventTtlMs: ttlMs, historyRetentionDurationMs: retentionMs } = config;
  if (etcd !== undefined) {
    parts.use(etcd.compact(onError));
    return;
  }
  const events = registries.builtIn({ group: "", resource: "events" });
  const mayAct = () => member?.cluster.confirmLeader() ?? true;
  parts.use(new EventExpiry({ events, store, clock, ttlMs, mayAct, onError }).start());
  parts.use(new Retention({ store, clock, retentionMs, mayAct, onError }).start());
}

/** Returns the headers by which this server itself knows users; undefined without an authenticating proxy. */
function identityHeadersOf({ authentication: { frontProxy } }: ServerConfig): IdentityHeaderNames | undefined {
  if (frontProxy === undefined) return undefined;
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes: prefixes } = frontProxy;
  return { names: [...usernameHeaders, ...uidHeaders, ...groupHeaders], prefixes };
}

function declarativeValidation(
  enabled: (gate: string) => boolean,
  { registry }: Pick<Metrics, "registry">,
): DeclarativeValidation {
  const takeover = enabled("DeclarativeValidationTakeover");
  return new DeclarativeValidation({ enabled, takeover, onMismatch: countMismatches(registry) });
}

function serviceNetworkOf({ serviceClusterIpRange, serviceNodePortRange }: ServerConfig): ServiceNetwork {
  return orStartupError(() => parseServiceNetwork(serviceClusterIpRange, serviceNodePortRange));
}

/** Reports any failure as a configuration error, the only kind that `run` can have. */
function orStartupError<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new StartupError((error as Error).message);
  }
}

function watchMetrics(catalog: Catalog, metrics: Metrics): CacherMetrics {
  const waited = readWaitMetrics(metrics.registry);
  return {
    waited(prefix, seconds) {
      const info = catalog.findPrefix(prefix);
      if (info !== undefined) waited(info, seconds);
    },
    sent(prefix, events, bytes) {
      const info = catalog.findPrefix(prefix);
      if (info !== undefined) metrics.watchEvents(info, events, bytes);
    },
  };
}
