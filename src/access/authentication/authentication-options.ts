import type { FrontProxyOptions } from "./front-proxy.ts";
import type { JwtIssuer } from "./jwt/authentication-configuration.ts";

/** The authentication options of the command line, checked for contradictions. */
export interface AuthenticationOptions {
  readonly anonymous: boolean;
  /** File of static tokens, CSV. */
  readonly tokenFile: string | undefined;
  readonly bootstrapTokens: boolean;
  readonly serviceAccounts: {
    /** Accepted issuers; the first one signs. */
    readonly issuers: readonly string[];
    /** Audiences, one of which a token must have. */
    readonly apiAudiences: readonly string[];
    /** File of the signing key; undefined to generate one. */
    readonly signingKeyFile: string | undefined;
    /** Files of further keys whose tokens are accepted. */
    readonly keyFiles: readonly string[];
    /** TLS key whose tokens are accepted if no such key is named. Ignored if it cannot sign tokens. */
    readonly fallbackKeyFile: string | undefined;
    readonly lookup: boolean;
    /** Longest lifetime; 0 for no limit. */
    readonly maxExpirationSeconds: number;
    readonly extendsMounted: boolean;
    /** Advertised address of the key set; undefined for this server. */
    readonly jwksUri: string | undefined;
  };
  readonly frontProxy: (FrontProxyOptions & { readonly caFile: string }) | undefined;
  /** File of an AuthenticationConfiguration. */
  readonly configFile: string | undefined;
  /** The issuer that flags describe; undefined if there is a file. */
  readonly oidc: JwtIssuer | undefined;
  /** Value of the flag, which a file must not contradict. */
  readonly anonymousFlag: boolean | undefined;
  readonly webhook:
    | { readonly configFile: string; readonly version: "v1" | "v1beta1"; readonly cacheTtlMs: number }
    | undefined;
}
