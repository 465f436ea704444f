import {
  type ServerControllers,
  startRequestControllers,
  startServerControllers,
} from "../controllers/server-controllers.ts";
import type { ClientUser } from "../http/in-process-client.ts";
import { serviceAccountGroups, serviceAccountUserName } from "../request/service-account-user.ts";
import { ephemeralVolumeMetrics } from "./metrics/ephemeral-volume-metrics.ts";
import { finishedJobMetrics } from "./metrics/finished-job-metrics.ts";
import { garbageCollectorMetrics } from "./metrics/garbage-collector-metrics.ts";
import { leaderMetrics } from "./metrics/leader-metrics.ts";
import { nodeMetrics } from "./metrics/node-metrics.ts";
import { resourceClaimMetrics } from "./metrics/resource-claim-metrics.ts";
import { rootCaMetrics } from "./metrics/root-ca-metrics.ts";
import { sliceMetrics } from "./metrics/slice-metrics.ts";
import { workQueueMetrics } from "./metrics/work-queue-metrics.ts";
import type { ServerApi } from "./open-api.ts";
import type { ServerHttp } from "./open-http.ts";
import type { ServerCredentials } from "./open-identity.ts";
import type { StartContext } from "./start-context.ts";

export interface ControllersParts extends StartContext {
  readonly api: ServerApi;
  readonly credentials: ServerCredentials;
  readonly http: ServerHttp;
}

/** Starts the controllers with their dependencies. */
export function startControllers(context: ControllersParts): ServerControllers & AsyncDisposable {
  const { config, storage, api, credentials, http, onError } = context;
  const { identity, authentication } = credentials;
  const { frontProxy } = config.authentication;
  const { registry } = api.metrics;
  const controllers = startServerControllers({
    ...api,
    observeQueue: workQueueMetrics(registry),
    client: http.clients.own,
    serves: ({ group, version, resource }) => api.catalog.find(group, version, resource) !== undefined,
    store: storage.store,
    clock: config.clock,
    bindAddress: config.bindAddress,
    isOnEtcd: storage.etcd !== undefined,
    port: http.port,
    authorizer: api.authorization.authorizer,
    issuer: authentication.issuer,
    secretTokenUses: authentication.secretTokenUses,
    authority: () => identity.issuer,
    clientAuthorities: () => identity.tls().ca.join(""),
    frontProxy: frontProxy && { ...frontProxy, authority: () => identity.tls().frontProxyCa },
    ownFrontProxy: credentials.frontProxy,
    ca: { pem: () => identity.ca, follow: (run) => identity.follow(run) },
    bootstrapSignerKey: config.bootstrapSignerKey,
    controllers: config.controllers,
    aggregated: {
      versions: api.remoteDiscovery,
      clientOf: (controller) => http.clients.open(serviceAccountOf(controller)),
    },
    nodeCidrRanges: config.nodeCidrRanges,
    nodeLifecycle: config.nodeLifecycle,
    terminatedPodsMax: config.terminatedPodsMax,
    sliceObservers: sliceMetrics(registry),
    ephemeralVolumesObserver: ephemeralVolumeMetrics(registry),
    nodeObservers: nodeMetrics(registry),
    resourceClaimsObserver: resourceClaimMetrics(registry),
    rootCaObserver: rootCaMetrics(registry),
    jobDeleted: finishedJobMetrics(registry),
    syncFailed: garbageCollectorMetrics(registry),
    onError,
  });
  leaderMetrics(registry, config.controllers, () => controllers.isLeader);
  return {
    get isLeader() {
      return controllers.isLeader;
    },
    leave: () => controllers.leave(),
    stop: () => controllers.stop(),
    [Symbol.asyncDispose]: () => controllers.stop(),
  };
}

/** Starts the controllers of a serving process. The process that keeps the store runs the others. */
export function startServingControllers({ config, api, credentials, onError }: ControllersParts): AsyncDisposable {
  const { secretTokenUses } = credentials.authentication;
  const running = startRequestControllers({ ...api, clock: config.clock, secretTokenUses, onError });
  return {
    async [Symbol.asyncDispose]() {
      running[Symbol.dispose]();
      await api.servers.withdraw();
    },
  };
}

/** The user that extension servers know a controller by. */
function serviceAccountOf(controller: string): ClientUser {
  const namespace = "kube-system";
  return { name: serviceAccountUserName(namespace, controller), groups: serviceAccountGroups(namespace) };
}
