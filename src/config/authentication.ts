import type { AuthenticationOptions } from "../authentication/authentication-options.ts";
import { type FlagOptions, flags } from "./flags.ts";
import { StartupError } from "./startup-error.ts";

const issuerDefault = "https://kubernetes.default.svc.cluster.local";

/**
 * @param anonymousByDefault whether requests without credentials are let in when no flag says
 * @throws StartupError for flags that contradict each other
 */
export function authenticationOptionsOf(options: FlagOptions, anonymousByDefault: boolean): AuthenticationOptions {
  return {
    anonymous: options.anonymousAuth ?? anonymousByDefault,
    tokenFile: options.tokenAuthFile,
    bootstrapTokens: options.enableBootstrapTokenAuth ?? flags["enable-bootstrap-token-auth"].default,
    serviceAccounts: serviceAccountsOf(options),
    frontProxy: frontProxyOf(options),
    webhook: webhookOf(options),
  };
}

function serviceAccountsOf(options: FlagOptions): AuthenticationOptions["serviceAccounts"] {
  const { serviceAccountSigningKeyFile: signing, serviceAccountPrivateKeyFile: other } = options;
  if (signing !== undefined && other !== undefined && signing !== other) {
    throw new StartupError(
      "--service-account-private-key-file is another name of --service-account-signing-key-file: give one of them",
    );
  }
  const issuers = options.serviceAccountIssuer ?? [issuerDefault];
  for (const issuer of issuers) {
    if (issuer.includes(":") && !URL.canParse(issuer)) {
      throw new StartupError(`--service-account-issuer: ${JSON.stringify(issuer)} is not a URL`);
    }
  }
  if (new Set(issuers).size < issuers.length) {
    throw new StartupError("--service-account-issuer: an issuer is named twice: name each once");
  }
  return {
    issuers,
    apiAudiences: options.apiAudiences ?? issuers.slice(0, 1),
    signingKeyFile: signing ?? other,
    keyFiles: options.serviceAccountKeyFile ?? [],
    lookup: options.serviceAccountLookup ?? flags["service-account-lookup"].default,
    maxExpirationSeconds: maxExpirationSeconds(options),
    extendsMounted:
      options.serviceAccountExtendTokenExpiration ?? flags["service-account-extend-token-expiration"].default,
    jwksUri: options.serviceAccountJwksUri,
  };
}

const hourSeconds = 3_600;

function maxExpirationSeconds({ serviceAccountMaxTokenExpirationMs }: FlagOptions): number {
  const seconds = (serviceAccountMaxTokenExpirationMs ?? 0) / 1_000;
  if (seconds === 0 || (seconds >= hourSeconds && seconds <= 2 ** 32)) return seconds;
  throw new StartupError("--service-account-max-token-expiration: between 1h and 2^32 seconds, or 0 for no limit");
}

function frontProxyOf(options: FlagOptions): AuthenticationOptions["frontProxy"] {
  const { requestheaderClientCaFile: caFile, requestheaderUsernameHeaders: usernameHeaders = [] } = options;
  const further: [string, readonly string[] | undefined][] = [
    ["--requestheader-allowed-names", options.requestheaderAllowedNames],
    ["--requestheader-username-headers", options.requestheaderUsernameHeaders],
    ["--requestheader-uid-headers", options.requestheaderUidHeaders],
    ["--requestheader-group-headers", options.requestheaderGroupHeaders],
    ["--requestheader-extra-headers-prefix", options.requestheaderExtraHeadersPrefix],
  ];
  if (caFile === undefined) {
    const given = further.find(([, value]) => value !== undefined);
    if (given === undefined) return undefined;
    throw new StartupError(`${given[0]}: of no use without --requestheader-client-ca-file: add it`);
  }
  if (caFile === options.clientCaFile) {
    throw new StartupError(
      "--requestheader-client-ca-file and --client-ca-file name the same file: every client could speak for every other one",
    );
  }
  if (usernameHeaders.length === 0) {
    throw new StartupError("--requestheader-client-ca-file: needs --requestheader-username-headers");
  }
  const lower = (names: readonly string[] = []) => names.map((name) => name.toLowerCase());
  return {
    caFile,
    usernameHeaders: lower(usernameHeaders),
    uidHeaders: lower(options.requestheaderUidHeaders),
    groupHeaders: lower(options.requestheaderGroupHeaders),
    extraHeaderPrefixes: lower(options.requestheaderExtraHeadersPrefix),
    allowedNames: options.requestheaderAllowedNames ?? [],
  };
}

function webhookOf(options: FlagOptions): AuthenticationOptions["webhook"] {
  const configFile = options.authenticationTokenWebhookConfigFile;
  if (configFile === undefined) return undefined;
  const [version = "v1beta1", ...others] =
    options.authenticationTokenWebhookVersion ?? flags["authentication-token-webhook-version"].default;
  if (others.length > 0) throw new StartupError("--authentication-token-webhook-version: name one version");
  const { default: ttlMs } = flags["authentication-token-webhook-cache-ttl"];
  return {
    configFile,
    version: version === "v1" ? "v1" : "v1beta1",
    cacheTtlMs: options.authenticationTokenWebhookCacheTtlMs ?? ttlMs,
  };
}
