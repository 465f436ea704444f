import { randomInt } from "node:crypto";
import { messageDecoder } from "../access/audit/decode-message.ts";
import type { OpenAudit } from "../access/audit/open-audit.ts";
import { encodeStatus } from "../api/codec/encode-object.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { Gossip } from "../cluster/gossip/gossip.ts";
import type { AppOptions, AppPlugin } from "../http/app.ts";
import { clusterPlugin } from "../http/cluster/cluster-plugin.ts";
import { connectors } from "../http/connect/connectors.ts";
import { discoveryRoute } from "../http/discovery/discovery-route.ts";
import { indexRoute } from "../http/discovery/index-route.ts";
import { schemeCatalog } from "../http/discovery/scheme-catalog.ts";
import type { EncodeStatus } from "../http/error-response.ts";
import { type AuditOptions, audit, auditResponse } from "../http/filters/audit.ts";
import { impersonation } from "../http/filters/impersonation.ts";
import { isServed, resourceHandler } from "../http/handlers/resources.ts";
import { type HealthCheck, healthHandler } from "../http/health.ts";
import type { Lifecycle } from "../http/lifecycle.ts";
import { contentTypeOf, negotiate } from "../http/negotiate.ts";
import { openApiRoute } from "../http/openapi/openapi-route.ts";
import { defaultJwksUri, openIdPlugin } from "../http/openid.ts";
import { gitVersion, versionRoute } from "../http/version.ts";
import { builtInActions } from "../kinds/actions.ts";
import { scaleViewOf } from "../kinds/autoscaling/scale.ts";
import { componentStatuses } from "../kinds/core/component-status.ts";
import { subresourceStrategyOf } from "../kinds/strategies.ts";
import { actionKey } from "../registry/action.ts";
import { header } from "../request/exchange.ts";
import { countAuthentications } from "./metrics/authentication-metrics.ts";
import { countDecisions } from "./metrics/authorization-metrics.ts";
import type { ServerApi } from "./open-api.ts";
import type { ServerCredentials } from "./open-identity.ts";
import type { StartContext } from "./start-context.ts";

export interface AppParts extends StartContext {
  readonly api: ServerApi;
  readonly credentials: ServerCredentials;
  readonly lifecycle: Lifecycle;
  readonly audited: OpenAudit | undefined;
  readonly checks: readonly HealthCheck[];
  /** The health that other members report of themselves. */
  readonly heard: Gossip["peers"];
}

/** Connects the parts of the server with the filters and handlers of its API. */
export function appOptions(parts: AppParts): AppOptions {
  const { config, log, lifecycle } = parts;
  const { scheme, registries, metrics, authorization } = parts.api;
  const { identity, authentication } = parts.credentials;
  const { store } = parts.storage;
  const { clock } = config;
  const { authorizer } = authorization;
  const actions = builtInActions({
    registries,
    clock,
    authorizer,
    tokens: { ...config.authentication.serviceAccounts, ...authentication },
  });
  const auditing = auditingOf(parts);
  const leases = registries.builtIn({ group: "coordination.k8s.io", resource: "leases" });
  const components = componentStatuses({ store, leases, clock });
  const endpoints = {
    subresource: subresourceStrategyOf,
    connector: connectors({
      pods: registries.builtIn({ group: "", resource: "pods" }),
      nodes: registries.builtIn({ group: "", resource: "nodes" }),
      services: registries.builtIn({ group: "", resource: "services" }),
      endpointSlices: registries.builtIn({ group: "discovery.k8s.io", resource: "endpointslices" }),
      authorizer,
      nodeClient: () => identity.nodeClient(clock.nowMs()),
      randomInt: (below) => (below > 0 ? randomInt(below) : 0),
    }),
    view: (info: ResourceInfo, subresource: string) => (subresource === "scale" ? scaleViewOf(info) : undefined),
    computed: (info: ResourceInfo) => (info.kind === "ComponentStatus" ? components : undefined),
    action: (info: ResourceInfo, subresource: string) => actions.get(actionKey(info, subresource)),
  };
  const cbor = config.featureGates.enabled("CBORServingAndStorage");
  return {
    chain: {
      clock,
      authenticator: countAuthentications(authentication.authenticator, metrics.registry),
      authorizer: countDecisions(authorizer, metrics.registry),
      afterAuthentication: [
        ...(auditing === undefined ? [] : [audit(auditing)]),
        impersonation({
          authorizer,
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
    resources: resourceHandler({
      scheme,
      store,
      clock,
      cbor,
      minRequestTimeoutMs: config.minRequestTimeoutMs,
      randomInt: (below) => (below > 0 ? randomInt(below) : 0),
      metrics,
      authorizer,
      unreadableDeletes: config.featureGates.enabled("AllowUnsafeMalformedObjectDeletion") ? authorizer : undefined,
      registry: (info) => registries.of(info),
      admission: registries.admission,
      ...endpoints,
    }),
    plugins: documentPlugins(parts, (info, subresource) => isServed(endpoints, info, subresource)),
  };
}

function auditingOf({ audited, config, api, log }: AppParts): AuditOptions | undefined {
  if (audited === undefined) return undefined;
  const onError = (error: unknown) => log.error("an audit event could not be written", { error });
  return { ...audited, clock: config.clock, decodeProtobuf: messageDecoder(api.scheme), onError };
}

function clusterPlugins({ storage, api, config, credentials, heard }: AppParts): AppPlugin[] {
  const { member, store } = storage;
  if (member === undefined) return [];
  const { cluster, peers } = member;
  const { identity } = credentials;
  const secrets = api.registries.builtIn({ group: "", resource: "secrets" });
  return [clusterPlugin({ cluster, peers, secrets, store, clock: config.clock, identity, version: gitVersion, heard })];
}

function documentPlugins(parts: AppParts, served: (info: ResourceInfo, subresource: string) => boolean): AppPlugin[] {
  const { config } = parts;
  const { scheme } = parts.api;
  const { authentication } = parts.credentials;
  const catalog = schemeCatalog(scheme, served);
  const address = `${config.bindAddress}:${config.securePort}`;
  const { issuers, jwksUri } = config.authentication.serviceAccounts;
  const plugins: AppPlugin[] = [
    ...clusterPlugins(parts),
    { name: "discovery", ...routeOf(discoveryRoute(catalog, address)) },
    {
      name: "openapi",
      ...routeOf(
        openApiRoute({ catalog, typeOf: (name) => scheme.typeSchema(name), version: gitVersion }, config.clock),
      ),
    },
    openIdPlugin({
      issuer: issuers[0] ?? "",
      keys: authentication.verificationKeys,
      jwksUri: jwksUri ?? defaultJwksUri(`https://${address}`),
    }),
  ];
  const always = ["/healthz", "/livez", "/readyz", "/metrics", "/version"];
  const paths = () => [...always, ...plugins.flatMap((plugin) => plugin.paths)];
  return [...plugins, { name: "index", ...routeOf(indexRoute(paths)) }];
}

function routeOf({ paths, handle }: Pick<AppPlugin, "paths" | "handle">): Pick<AppPlugin, "paths" | "handle"> {
  return { paths, handle };
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
