import { openAuthentication, type ServerAuthentication } from "../access/authentication/server-authentication.ts";
import { ServerIdentity } from "../access/certificates/identity.ts";
import { OwnFrontProxy } from "../access/certificates/own-front-proxy.ts";
import { tokenMetrics } from "./metrics/token-metrics.ts";
import type { ServerApi } from "./open-api.ts";
import type { StartContext } from "./start-context.ts";

/** The certificates and keys of this server, and the credentials that it accepts. */
export interface ServerCredentials extends Disposable {
  readonly identity: ServerIdentity;
  readonly authentication: ServerAuthentication;
  /** This server as the proxy in front of the servers of APIServices. */
  readonly frontProxy: OwnFrontProxy;
}

export interface IdentityParts extends StartContext {
  readonly api: ServerApi;
  /** Called when an issuer of ID tokens withdraws a key that this server used. */
  onKeyWithdrawn(): void;
}

/** Opens the server's certificates and starts to authenticate. Resolves once the default objects exist. */
export async function openIdentity(context: IdentityParts): Promise<ServerCredentials> {
  const { config, log, storage, serving, api, onError, onKeyWithdrawn } = context;
  // Open both at the same time; each takes a while, and neither needs the other.
  const defaults = serving === undefined ? api.ensureDefaults() : undefined;
  const [identity] = await Promise.all([ServerIdentity.open(config), defaults]);
  const frontProxy = new OwnFrontProxy(identity.serviceAccountKey, config.clock);
  if (config.authentication.frontProxy === undefined) api.proxyClient.offer(() => frontProxy.client());
  api.registries.creations.holdUntil(api.servers.join());
  using parts = new DisposableStack();
  const authentication = parts.use(
    openAuthentication({
      options: config.authentication,
      ownTokens: identity.tokenFile,
      ownSigningKey: identity.serviceAccountKey,
      scheme: api.scheme,
      store: storage.store,
      clock: config.clock,
      onError,
      certificateUids: config.featureGates.enabled("AllowParsingUserUIDFromCertAuth"),
      onRefused: (reason) => log.debug("a credential was refused", { reason }),
      onKeyWithdrawn,
      observer: tokenMetrics(api.metrics.registry, api.serverId),
    }),
  );
  // Follow rotations before the listener opens, so that each one is in use when the API answers.
  if (storage.member !== undefined) parts.use(storage.member.keepFresh(onError));
  const kept = parts.move();
  return { identity, authentication, frontProxy, [Symbol.dispose]: () => kept.dispose() };
}
