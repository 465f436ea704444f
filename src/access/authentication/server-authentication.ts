import { readFileSync } from "node:fs";
import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { ServedResources } from "../../api/scheme/served-resources.ts";
import { kubeconfigEndpoint } from "../../client/kubeconfig-endpoint.ts";
import type { Clock } from "../../process/clock.ts";
import { followFile } from "../../process/follow-file.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { Store } from "../../storage/store.ts";
import { joinersGroup } from "../authorization/join-token-authorizer.ts";
import { anonymousAuthenticator } from "./anonymous.ts";
import type { AuthenticationObserver } from "./authentication-observer.ts";
import type { AuthenticationOptions } from "./authentication-options.ts";
import { type Authenticator, type RequestAuthenticator, unionAuthenticator } from "./authenticator.ts";
import { bearerTokenAuthenticator } from "./bearer-token.ts";
import { type BootstrapSecret, bootstrapTokenNamespace, bootstrapTokenUser } from "./bootstrap-token.ts";
import { clientCertificateAuthenticator } from "./client-certificate.ts";
import { frontProxyAuthenticator } from "./front-proxy.ts";
import {
  type AuthenticationConfiguration,
  parseAuthenticationConfiguration,
} from "./jwt/authentication-configuration.ts";
import { fetchIssuerKeys } from "./jwt/issuer-keys.ts";
import { type JwtAuthenticator, jwtAuthenticator } from "./jwt/jwt-authenticator.ts";
import { parseSigningKey, parseTokenKeys, type SigningKey, type TokenKey } from "./service-account/keys.ts";
import { type BoundResource, liveObjects } from "./service-account/live-objects.ts";
import { SecretTokenUses } from "./service-account/secret-token-uses.ts";
import { serviceAccountAuthenticator } from "./service-account/service-account-authenticator.ts";
import { type TokenIssuer, tokenIssuer } from "./service-account/token-issuer.ts";
import { type TokenAuthenticator, tokensForServer, tokenUnion } from "./token-authenticator.ts";
import { parseTokenFile } from "./token-file.ts";
import { tokenWebhook } from "./token-webhook.ts";

export interface AuthenticationParts {
  readonly options: AuthenticationOptions;
  /** The administrator's token as a line of a token file. */
  readonly ownTokens: string;
  /** PEM of our own key for service account tokens. */
  readonly ownSigningKey: string;
  readonly scheme: ServedResources;
  readonly store: Store;
  readonly clock: Clock;
  /** Whether client certificates may set the uid of their user. */
  readonly certificateUids: boolean;
  /** Receives the error of a changed file that is unusable. The previous contents stay in force. */
  onError(error: unknown): void;
  /** Receives the reason why a credential is rejected. The sender does not learn it. */
  onRefused?(reason: string): void;
  /** Called when an issuer of ID tokens has withdrawn a known key. */
  onKeyWithdrawn?(): void;
  readonly observer?: AuthenticationObserver | undefined;
}

/** Interval of rereading the file, because not every file system reports changes. */
const rereadIntervalMs = 60_000;

/** The request authenticator, and the parts that answer questions about tokens. */
export interface ServerAuthentication extends Disposable {
  readonly authenticator: RequestAuthenticator;
  readonly tokens: TokenAuthenticator;
  /** Issuer that signs service account tokens. */
  readonly issuer: TokenIssuer;
  /** Keys whose service account tokens are accepted, the signing one first. */
  readonly verificationKeys: readonly TokenKey[];
  /** Reports uses of tokens of Secrets. */
  readonly secretTokenUses: SecretTokenUses;
  /** Fetches the keys of ID token issuers again, because some may be withdrawn. */
  doubtIssuerKeys(): void;
}

/** Opens authentication. @throws StartupError for a file that cannot be read or used */
export function openAuthentication(parts: AuthenticationParts): ServerAuthentication {
  const { options, clock } = parts;
  const { serviceAccounts, frontProxy } = options;
  const { signingKey, verificationKeys } = openKeys(parts);
  const configured = new ConfiguredAuthentication(parts);
  const secretTokenUses = new SecretTokenUses();
  const tokens = tokenUnion([
    ...staticTokens(parts),
    serviceAccountAuthenticator({
      issuers: serviceAccounts.issuers,
      keys: verificationKeys,
      apiAudiences: serviceAccounts.apiAudiences,
      lookup: serviceAccounts.lookup,
      objects: liveObjects(parts.store, boundInfos(parts.scheme)),
      clock,
      onSecretUsed: (namespace, name) => secretTokenUses.note(namespace, name),
      onUse: (kind) => parts.observer?.tokenUsed(kind),
    }),
    bootstrapTokens(parts),
    configured.jwt,
    ...webhooks(parts),
  ]);
  const authenticator = unionAuthenticator(
    [
      ...(frontProxy === undefined ? [] : [frontProxyAuthenticator(frontProxy, clock)]),
      clientCertificateAuthenticator(clock, { uids: parts.certificateUids }),
      bearerTokenAuthenticator(tokens, serviceAccounts.apiAudiences),
    ],
    configured.anonymous,
    parts.onRefused,
  );
  const issuer = tokenIssuer(serviceAccounts.issuers[0] ?? "", signingKey);
  return {
    authenticator,
    tokens,
    issuer,
    verificationKeys,
    secretTokenUses,
    doubtIssuerKeys: () => configured.doubtKeys(),
    [Symbol.dispose]: () => configured[Symbol.dispose](),
  };
}

/** The part of an AuthenticationConfiguration that may change while the server runs. */
class ConfiguredAuthentication implements Disposable {
  readonly #parts: AuthenticationParts;
  readonly #following: Disposable | undefined;
  #issuers: readonly JwtAuthenticator[] = [];
  #jwt: TokenAuthenticator = tokenUnion([]);
  #anonymous: Authenticator | undefined;

  constructor(parts: AuthenticationParts) {
    const { options, clock, onError } = parts;
    this.#parts = parts;
    this.#use({ jwt: options.oidc === undefined ? [] : [options.oidc], anonymous: undefined });
    const { configFile: file } = options;
    if (file === undefined) return;
    const flag = "--authentication-config";
    const bytes = Buffer.from(readOption(flag, file));
    try {
      this.#read(bytes);
    } catch (error) {
      throw new StartupError(`${flag}: ${(error as Error).message}`);
    }
    const onChange = (changed: Uint8Array) => {
      try {
        this.#read(changed);
      } catch (error) {
        parts.observer?.reloaded(false);
        throw error;
      }
      parts.observer?.reloaded(true);
    };
    this.#following = followFile({ file, bytes, clock, intervalMs: rereadIntervalMs, onChange, onError });
  }

  /** Authenticates tokens of the currently configured issuers. */
  readonly jwt: TokenAuthenticator = {
    authenticateToken: (token, audiences) => this.#jwt.authenticateToken(token, audiences),
  };

  /** The current authenticator of requests without credentials. */
  readonly anonymous: Authenticator = { authenticate: (request) => this.#anonymous?.authenticate(request) };

  doubtKeys(): void {
    for (const issuer of this.#issuers) issuer.doubtKeys();
  }

  [Symbol.dispose](): void {
    this.#following?.[Symbol.dispose]();
  }

  /** Reads a configuration. @throws Error for an unusable file, in which case the previous contents stay in force */
  #read(bytes: Uint8Array): void {
    const { issuers } = this.#parts.options.serviceAccounts;
    const configuration = parseAuthenticationConfiguration(bytes, issuers);
    if (configuration.anonymous !== undefined && this.#parts.options.anonymousFlag !== undefined) {
      throw new Error("--anonymous-auth already configures anonymous requests: omit one of the two");
    }
    this.#use(configuration);
  }

  #use({ jwt, anonymous }: AuthenticationConfiguration): void {
    const { options, clock } = this.#parts;
    const { apiAudiences } = options.serviceAccounts;
    const onKeyWithdrawn = () => this.#parts.onKeyWithdrawn?.();
    this.#issuers = jwt.map((issuer) =>
      jwtAuthenticator({ issuer, apiAudiences, clock, onKeyWithdrawn, fetchKeys: () => fetchIssuerKeys(issuer) }),
    );
    this.#jwt = tokenUnion(this.#issuers);
    const isOn = anonymous?.enabled ?? options.anonymous;
    this.#anonymous = isOn ? anonymousAuthenticator(anonymous?.paths) : undefined;
  }
}

function openKeys({ options, ownSigningKey }: AuthenticationParts): {
  signingKey: SigningKey;
  verificationKeys: TokenKey[];
} {
  const { signingKeyFile, keyFiles, fallbackKeyFile } = options.serviceAccounts;
  const signingFlag = "--service-account-signing-key-file";
  const signingKey =
    signingKeyFile === undefined
      ? parseSigningKey(ownSigningKey, "the key of service account tokens")
      : parseSigningKey(readOption(signingFlag, signingKeyFile), `${signingFlag}: ${signingKeyFile}`);
  const keyFlag = "--service-account-key-file";
  const further = keyFiles.flatMap((file) => parseTokenKeys(readOption(keyFlag, file), `${keyFlag}: ${file}`));
  const byId = new Map([signingKey, ...further, ...tlsKeys(fallbackKeyFile)].map((key) => [key.id, key]));
  return { signingKey, verificationKeys: [...byId.values()] };
}

function tlsKeys(file: string | undefined): TokenKey[] {
  if (file === undefined) return [];
  const text = readOption("--tls-private-key-file", file);
  try {
    return parseTokenKeys(text, file);
  } catch {
    return [];
  }
}

function staticTokens({ options, ownTokens }: AuthenticationParts): TokenAuthenticator[] {
  const { apiAudiences } = options.serviceAccounts;
  const own = tokensForServer(apiAudiences, parseTokenFile(ownTokens, "the generated token"));
  if (options.tokenFile === undefined) return [own];
  const text = readOption("--token-auth-file", options.tokenFile);
  try {
    return [own, tokensForServer(apiAudiences, parseTokenFile(text, options.tokenFile))];
  } catch (error) {
    throw new StartupError(`--token-auth-file: ${(error as Error).message}`);
  }
}

/** Returns the authenticator of bootstrap tokens. Unless they are enabled, it accepts only tokens of new members. */
function bootstrapTokens({ options, scheme, store, clock }: AuthenticationParts): TokenAuthenticator {
  const info = scheme.find("", "v1", "secrets");
  const secret = (name: string): BootstrapSecret | undefined => {
    const entry = info && store.get(`${info.keyPrefix}${bootstrapTokenNamespace}/${name}`);
    return entry && (decodeEntry(entry, info) as KubeObject & BootstrapSecret);
  };
  const { apiAudiences } = options.serviceAccounts;
  return tokensForServer(apiAudiences, (token) => {
    const user = bootstrapTokenUser(token, secret, clock.nowMs());
    return options.bootstrapTokens || user?.groups.includes(joinersGroup) === true ? user : undefined;
  });
}

function webhooks({ options, clock }: AuthenticationParts): TokenAuthenticator[] {
  const { webhook, serviceAccounts } = options;
  if (webhook === undefined) return [];
  try {
    const endpoint = kubeconfigEndpoint(webhook.configFile);
    return [tokenWebhook({ ...webhook, endpoint, apiAudiences: serviceAccounts.apiAudiences, clock })];
  } catch (error) {
    throw new StartupError(`--authentication-token-webhook-config-file: ${(error as Error).message}`);
  }
}

function boundInfos(
  scheme: ServedResources,
): ReadonlyMap<BoundResource, NonNullable<ReturnType<ServedResources["find"]>>> {
  const resources: BoundResource[] = ["serviceaccounts", "pods", "secrets", "nodes"];
  const served = resources.map((resource) => [resource, scheme.find("", "v1", resource)] as const);
  return new Map(served.flatMap(([resource, info]) => (info === undefined ? [] : [[resource, info] as const])));
}

function readOption(flag: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StartupError(`${flag}: cannot read ${file} (${(error as { code?: string }).code}): check the path`);
  }
}
