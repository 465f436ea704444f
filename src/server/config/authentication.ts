import { readFileSync } from "node:fs";
import type { AuthenticationOptions } from "../../access/authentication/authentication-options.ts";
import { asymmetricAlgorithms, type JwtIssuer } from "../../access/authentication/jwt/authentication-configuration.ts";
import { StartupError } from "../../process/startup-error.ts";
import { type FlagOptions, flags } from "./flags.ts";

const issuerDefault = "https://kubernetes.default.svc.cluster.local";

/**
 * @param anonymousByDefault whether requests without credentials are accepted unless a flag decides
 * @throws StartupError for flags that contradict each other
 */
export function authenticationOptionsOf(options: FlagOptions, anonymousByDefault: boolean): AuthenticationOptions {
  return {
    anonymous: options.anonymousAuth ?? anonymousByDefault,
    tokenFile: options.tokenAuthFile,
    bootstrapTokens: options.enableBootstrapTokenAuth ?? flags["enable-bootstrap-token-auth"].default,
    serviceAccounts: serviceAccountsOf(options),
    frontProxy: frontProxyOf(options),
    configFile: options.authenticationConfig,
    oidc: oidcOf(options),
    anonymousFlag: options.anonymousAuth,
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
    fallbackKeyFile: options.serviceAccountKeyFile === undefined ? options.tlsPrivateKeyFile : undefined,
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
  throw new StartupError(
    "--service-account-max-token-expiration: use a value between 1h and 2^32 seconds, or 0 for no limit",
  );
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
    throw new StartupError(`${given[0]}: has no effect without --requestheader-client-ca-file: add it`);
  }
  if (caFile === options.clientCaFile) {
    throw new StartupError(
      "--requestheader-client-ca-file and --client-ca-file name the same file: any client could impersonate any other: use separate authorities",
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

/** Returns the issuer that the flags describe, in the form of the configuration file. */
function oidcOf(options: FlagOptions): JwtIssuer | undefined {
  const { oidcIssuerUrl: url, oidcClientId: clientId, authenticationConfig } = options;
  const given = Object.entries(options).find(([name, value]) => name.startsWith("oidc") && value !== undefined);
  if (given === undefined) return undefined;
  if (authenticationConfig !== undefined) {
    throw new StartupError(
      "--authentication-config: cannot be used with --oidc-* flags: describe the issuer in the file",
    );
  }
  if (url === undefined || clientId === undefined) {
    throw new StartupError("--oidc-issuer-url and --oidc-client-id belong together: give both, or no --oidc-* flag");
  }
  if (!URL.canParse(url) || new URL(url).protocol !== "https:") {
    throw new StartupError(`--oidc-issuer-url: ${JSON.stringify(url)} is not an https URL`);
  }
  const algorithms = options.oidcSigningAlgs ?? ["RS256"];
  const unknown = algorithms.find((name) => !(asymmetricAlgorithms as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new StartupError(
      `--oidc-signing-algs: ${JSON.stringify(unknown)} is not one of ${asymmetricAlgorithms.join(", ")}`,
    );
  }
  const claim = options.oidcUsernameClaim ?? flags["oidc-username-claim"].default;
  const groupsClaim = options.oidcGroupsClaim;
  return {
    url,
    discoveryUrl: undefined,
    certificateAuthority: options.oidcCaFile === undefined ? undefined : readAuthority(options.oidcCaFile),
    audiences: [clientId],
    requiredClaims: (options.oidcRequiredClaim ?? []).map(requiredClaim),
    username: { claim, prefix: usernamePrefix(options.oidcUsernamePrefix, claim, url) },
    groups: groupsClaim === undefined ? undefined : { claim: groupsClaim, prefix: options.oidcGroupsPrefix ?? "" },
    uid: undefined,
    algorithms,
  };
}

/** Returns the prefix that keeps the names of different issuers apart, unless a flag sets another. */
function usernamePrefix(given: string | undefined, claim: string, issuer: string): string {
  if (given === "-") return "";
  return given ?? (claim === "email" ? "" : `${issuer}#`);
}

function requiredClaim(pair: string): [string, string] {
  const at = pair.indexOf("=");
  if (at <= 0) throw new StartupError(`--oidc-required-claim: ${JSON.stringify(pair)} is not claim=value`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StartupError(
      `--oidc-ca-file: cannot read ${file} (${(error as { code?: string }).code}): check the path`,
    );
  }
}
