import type { FrontProxyOptions } from "./front-proxy.ts";
import type { JwtIssuer } from "./jwt/authentication-configuration.ts";

/** What the command line says about authentication, free of contradictions. */
export interface AuthenticationOptions {
  readonly anonymous: boolean;
  /** Static tokens, CSV. */
  readonly tokenFile: string | undefined;
  readonly bootstrapTokens: boolean;
  readonly serviceAccounts: {
    /** The first one issues; all are accepted. */
    readonly issuers: readonly string[];
    /** What a token has to be meant for. */
    readonly apiAudiences: readonly string[];
    /** Undefined: a key of our own. */
    readonly signingKeyFile: string | undefined;
    /** Keys whose tokens are accepted besides; empty for none. */
    readonly keyFiles: readonly string[];
    /** The TLS key, whose tokens are accepted where no such key is named; one that cannot sign tokens counts for nothing. */
    readonly fallbackKeyFile: string | undefined;
    readonly lookup: boolean;
    /** 0 for no limit. */
    readonly maxExpirationSeconds: number;
    readonly extendsMounted: boolean;
    /** Where the key set is said to be; undefined: at this server. */
    readonly jwksUri: string | undefined;
  };
  readonly frontProxy: (FrontProxyOptions & { readonly caFile: string }) | undefined;
  /** An AuthenticationConfiguration. */
  readonly configFile: string | undefined;
  /** The issuer that flags describe; never together with a file. */
  readonly oidc: JwtIssuer | undefined;
  /** Set where a flag says so, which a file must not contradict. */
  readonly anonymousFlag: boolean | undefined;
  readonly webhook:
    | { readonly configFile: string; readonly version: "v1" | "v1beta1"; readonly cacheTtlMs: number }
    | undefined;
}
