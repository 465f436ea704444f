import { randomInt } from "node:crypto";
import { messageDecoder } from "../access/audit/decode-message.ts";
import type { OpenAudit } from "../access/audit/open-audit.ts";
import { LastModes } from "../access/authorization/impersonation.ts";
import { encodeStatus } from "../api/codec/encode-object.ts";
import { apiRelease } from "../api/release.ts";
import type { Gossip } from "../cluster/gossip/gossip.ts";
import {
  type AggregatedServerParts,
  aggregatedDocuments,
  aggregatedServer,
} from "../http/aggregation/aggregated-server.ts";
import { forwardDocument } from "../http/aggregation/forward-document.ts";
import type { AppOptions, AppPlugin } from "../http/app.ts";
import { clusterPlugin } from "../http/cluster/cluster-plugin.ts";
import { componentPages } from "../http/component-pages.ts";
import { connectionsOf } from "../http/connect/connectors.ts";
import { discoveryRoute } from "../http/discovery/discovery-route.ts";
import { indexRoute } from "../http/discovery/index-route.ts";
import { MergedDiscovery } from "../http/discovery/merged-discovery.ts";
import type { EncodeStatus } from "../http/error-response.ts";
import { type AuditFilterMetrics, type AuditOptions, audit, auditResponse } from "../http/filters/audit.ts";
import type { ChainOptions } from "../http/filters/chain.ts";
import { impersonation } from "../http/filters/impersonation.ts";
import { flowDebugPages } from "../http/flow-control/debug-pages.ts";
import { builtInServer } from "../http/handlers/built-in-server.ts";
import { customServer } from "../http/handlers/custom-server.ts";
import type { HandlerParts } from "../http/handlers/endpoint.ts";
import { resourceHandler } from "../http/handlers/resources.ts";
import { type HealthCheck, healthHandler } from "../http/health.ts";
import type { Lifecycle } from "../http/lifecycle.ts";
import { contentTypeOf, negotiate } from "../http/negotiate.ts";
import { openApiRoute } from "../http/openapi/openapi-route.ts";
import { defaultJwksUri, openIdPlugin } from "../http/openid.ts";
import { unservedPath } from "../http/unserved-path.ts";
import { gitVersion, versionRoute } from "../http/version.ts";
import { Endpoints } from "../registry/endpoints.ts";
import type { KindParts } from "../registry/kind.ts";
import { header } from "../request/exchange.ts";
import { countAuthentications } from "./metrics/authentication-metrics.ts";
import { countDecisions } from "./metrics/authorization-metrics.ts";
import { createHealthMetrics } from "./metrics/health-metrics.ts";
import type { ServerApi } from "./open-api.ts";
import type { ServerCredentials } from "./open-identity.ts";
import type { StartContext } from "./start-context.ts";

export interface AppParts extends StartContext {
  readonly api: ServerApi;
  readonly credentials: ServerCredentials;
  readonly lifecycle: Lifecycle;
  /** Returns host and port for clients. The port is known once the server listens. */
  readonly address: () => string;
  readonly audited: OpenAudit | undefined;
  readonly auditFilter: AuditFilterMetrics;
  readonly checks: readonly HealthCheck[];
  /** Priority and fairness; undefined when it is turned off. */
  readonly fairness: ChainOptions["flowControl"];
  /** The health that other members report about themselves. */
  readonly heard: Gossip["peers"];
}

/** Connects the parts of the server to the filters and handlers of its API. */
export function appOptions(parts: AppParts): AppOptions {
  const { config, log, lifecycle } = parts;
  const { scheme, catalog, metrics, authorization } = parts.api;
  const { authentication } = parts.credentials;
  const { store } = parts.storage;
  const { clock } = config;
  const { authorizer } = authorization;
  const auditing = auditingOf(parts);
  const endpoints = endpointsOf(parts);
  const cbor = config.featureGates.enabled("CBORServingAndStorage");
  const healthMetrics = createHealthMetrics(clock.nowMs());
  const handlers: HandlerParts = {
    catalog,
    typeSchema: (name) => scheme.typeSchema(name),
    store,
    clock,
    cbor,
    minRequestTimeoutMs: config.minRequestTimeoutMs,
    randomInt: (below) => (below > 0 ? randomInt(below) : 0),
    metrics,
    authorizer,
    unreadableDeletes: config.featureGates.enabled("AllowUnsafeMalformedObjectDeletion") ? authorizer : undefined,
    endpoint: (info, subresource) => endpoints.find(info, subresource),
    admission: parts.api.admission,
  };
  return {
    chain: {
      clock,
      authenticator: countAuthentications(authentication.authenticator, {
        registry: metrics.registry,
        inFilter: metrics.filterDuration("authentication"),
        nowMs: () => clock.nowMs(),
      }),
      authorizer: countDecisions(authorizer, metrics.registry, metrics.filterDuration("authorization")),
      afterAuthentication: [
        ...(auditing === undefined ? [] : [audit(auditing)]),
        impersonation({
          authorizer,
          constrained: config.featureGates.enabled("ConstrainedImpersonation"),
          lastModes: new LastModes(),
        }),
      ],
      onAnswer: auditing === undefined ? [] : [auditResponse(auditing)],
      lifecycle,
      requestTimeoutMs: config.requestTimeoutMs,
      maxInFlight: { readOnly: config.maxRequestsInflight, mutating: config.maxMutatingRequestsInflight },
      flowControl: parts.fairness,
      metrics,
      encodeStatus: statusEncoder(cbor),
      onRequest: (outcome, record) => log.requestLog(outcome, record),
      onFault: (error, { auditId }) => log.error("a request failed unexpectedly", { error, auditId }),
    },
    health: healthHandler({
      clock,
      livezGracePeriodMs: config.livezGracePeriodMs,
      checks: parts.checks,
      onResult: healthMetrics.observe,
    }),
    metrics: metrics.handle,
    version: versionRoute().handle,
    resources: resourceHandler(
      [aggregatedServer(aggregatedParts(parts)), builtInServer(handlers), customServer(handlers)],
      catalog,
      () => store.readBarrier(),
    ),
    notFound: ({ info }) => Promise.reject(unservedPath(info.path, catalog)),
    plugins: documentPlugins(parts, [{ name: "slis", paths: ["/metrics/slis"], handle: healthMetrics.handle }]),
  };
}

function aggregatedParts({ api, config }: AppParts): AggregatedServerParts {
  const { apis, backends, serverId } = api;
  return { apis, backends, serverId, clock: config.clock, refusesRedirects: config.refusesRedirects };
}

/** Makes the endpoints of every kind in the catalog, and updates them when kinds come or go. */
function endpointsOf({ config, storage, api, credentials }: AppParts): Endpoints {
  const { clock } = config;
  const { store } = storage;
  const { registries, catalog } = api;
  const { authorizer } = api.authorization;
  const { identity, authentication } = credentials;
  const connections = connectionsOf({
    pods: registries.builtIn({ group: "", resource: "pods" }),
    nodes: registries.builtIn({ group: "", resource: "nodes" }),
    services: api.services,
    authorizer,
    nodeClient: () => identity.nodeClient(clock.nowMs()),
    nodeAuthorities: identity.nodeAuthorities,
    nodeAddressTypes: config.kubeletPreferredAddressTypes,
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

function auditingOf({ audited, auditFilter: metrics, config, api, log }: AppParts): AuditOptions | undefined {
  if (audited === undefined) return undefined;
  const onError = (error: unknown) => log.error("an audit event could not be written", { error });
  return { ...audited, clock: config.clock, decodeProtobuf: messageDecoder(api.scheme), metrics, onError };
}

function clusterPlugins({ storage, api, config, credentials, heard }: AppParts): AppPlugin[] {
  const { member, store, encryption } = storage;
  if (member === undefined) return [];
  const { cluster, peers } = member;
  const { identity } = credentials;
  const secrets = api.registries.builtIn({ group: "", resource: "secrets" });
  return [
    clusterPlugin({
      cluster,
      peers,
      secrets,
      store,
      clock: config.clock,
      identity,
      version: gitVersion,
      encryption: () => ({ resources: encryption.described(), unreadable: store.corrupt.length }),
      heard,
    }),
  ];
}

function documentPlugins(parts: AppParts, further: readonly AppPlugin[]): AppPlugin[] {
  const { config, address } = parts;
  const { scheme, catalog, apis, remoteDiscovery, remoteOpenApi } = parts.api;
  const { authentication } = parts.credentials;
  const { issuers, jwksUri } = config.authentication.serviceAccounts;
  const cbor = config.featureGates.enabled("CBORServingAndStorage");
  const plugins: AppPlugin[] = [
    ...clusterPlugins(parts),
    ...further,
    ...componentPages({ clock: config.clock, flags: () => config.flagTexts }),
    aggregatedDocuments(aggregatedParts(parts)),
    pluginOf("discovery", discoveryRoute(new MergedDiscovery({ catalog, apis, remote: remoteDiscovery }), address)),
    pluginOf(
      "openapi",
      openApiRoute(
        {
          catalog,
          typeOf: (name) => scheme.typeSchema(name),
          version: apiRelease,
          cbor,
          remote: remoteOpenApi,
        },
        config.clock,
        forwardDocument(remoteOpenApi, aggregatedParts(parts)),
      ),
    ),
    openIdPlugin({
      issuer: issuers[0] ?? "",
      keys: authentication.verificationKeys,
      jwksUri: () => jwksUri ?? defaultJwksUri(`https://${address()}`),
    }),
  ];
  const always = ["/healthz", "/livez", "/readyz", "/metrics", "/version"];
  const paths = () => [...always, ...plugins.flatMap((plugin) => plugin.paths)];
  const debugging = parts.fairness === undefined ? [] : flowDebugPages(parts.fairness.control, config.clock);
  // The index omits the debugging pages, as upstream's does.
  return [...plugins, pluginOf("index", indexRoute(paths)), ...debugging];
}

/** Reads the route's paths on each call, because they change with the catalog. */
function pluginOf(name: string, route: Pick<AppPlugin, "paths" | "handle">): AppPlugin {
  return {
    name,
    get paths() {
      return route.paths;
    },
    handle: route.handle,
  };
}

/** Write errors in a type that the client accepts, or as JSON if it accepts none of ours. */
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
