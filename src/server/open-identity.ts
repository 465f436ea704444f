import { openAuthentication, type ServerAuthentication } from "../access/authentication/server-authentication.ts";
import { ServerIdentity } from "../access/certificates/identity.ts";
import { tokenMetrics } from "./metrics/token-metrics.ts";
import type { ServerApi } from "./open-api.ts";
import type { StartContext } from "./start-context.ts";

/** The certificates and keys of this server, and the credentials that it accepts from others. */
export interface ServerCredentials extends Disposable {
  readonly identity: ServerIdentity;
  readonly authentication: ServerAuthentication;
}

export interface IdentityParts extends StartContext {
  readonly api: ServerApi;
  /** Hears that an issuer of ID tokens has withdrawn a key which this server had. */
  onKeyWithdrawn(): void;
}

/** Opens the certificates of this server and starts to judge credentials. The default objects exist when it resolves. */
export async function openIdentity(context: IdentityParts): Promise<ServerCredentials> {
  const { config, log, storage, api, onError, onKeyWithdrawn } = context;
  // Both take a while, and neither needs the other.
  const [identity] = await Promise.all([ServerIdentity.open(config), api.ensureDefaults()]);
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
  // Before the listener opens: a rotation that its API is told of must be in use when it answers.
  if (storage.member !== undefined) parts.use(storage.member.keepFresh(onError));
  const kept = parts.move();
  return { identity, authentication, [Symbol.dispose]: () => kept.dispose() };
}
