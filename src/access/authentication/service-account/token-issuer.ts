import type { JsonObject } from "../../../api/json.ts";
import { type BoundObject, boundPayload, legacyPayload, type ServiceAccountClaims } from "./claims.ts";
import type { SigningKey } from "./keys.ts";

export interface TokenIssuer {
  /** Signs a token with the claims that a TokenRequest requests. */
  issue(claims: ServiceAccountClaims & { readonly audiences: readonly string[] }): Promise<string>;
  /** Signs a token for a Secret. It ends with the Secret. */
  issueForSecret(namespace: string, secret: string, serviceAccount: BoundObject): Promise<string>;
}

/** Returns an issuer with a URL and one signing key. */
export function tokenIssuer(issuer: string, key: SigningKey): TokenIssuer {
  const sign = async (payload: JsonObject) => {
    // Load the library with the first token, so that a server that issues none starts without it.
    const { CompactSign } = await import("jose");
    const bytes = new TextEncoder().encode(JSON.stringify(payload));
    return new CompactSign(bytes).setProtectedHeader({ alg: key.algorithm, kid: key.id }).sign(key.privateKey);
  };
  return {
    issue: (claims) => sign(boundPayload(issuer, claims)),
    issueForSecret: (namespace, secret, account) => sign(legacyPayload(namespace, secret, account)),
  };
}
