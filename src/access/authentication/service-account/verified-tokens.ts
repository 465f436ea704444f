import { randomBytes } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { RecentMap } from "../../../process/recent-map.ts";
import { parseClaims, type ServiceAccountClaims } from "./claims.ts";
import type { TokenKey } from "./keys.ts";

/** Maximum number of cached signatures. The oldest are dropped and verified again on demand. */
const verifiedTokensMax = 4_096;

/**
 * Verifies each signature once, because a client sends the same token with every request. A signature stays valid; facts
 * that may change are checked elsewhere for every request.
 */
export class VerifiedTokens {
  readonly #keys: readonly TokenKey[];
  readonly #salt = randomBytes(32).toString("base64");
  /** Claims by digest. The tokens themselves are not kept in memory. */
  readonly #claims = new RecentMap<string, ServiceAccountClaims>(verifiedTokensMax);

  constructor(keys: readonly TokenKey[]) {
    this.#keys = keys;
  }

  /** Returns the claims of a token that was verified before. */
  known(token: string): ServiceAccountClaims | undefined {
    return this.#claims.get(this.#digest(token));
  }

  /** Verifies a token. Resolves with its claims, or with undefined if none of the keys signed it. */
  async verify(token: string): Promise<ServiceAccountClaims | undefined> {
    // Padding bits must be zero, so that each signature has only one text.
    if (!isCanonical(token)) return undefined;
    const { compactVerify, decodeProtectedHeader } = await import("jose");
    let header: ReturnType<typeof decodeProtectedHeader>;
    try {
      header = decodeProtectedHeader(token);
    } catch {
      return undefined;
    }
    // Reject unencoded payloads and critical extensions, which change the meaning of a token.
    if (header.b64 !== undefined || header.crit !== undefined) return undefined;
    const candidates = this.#keys.filter(
      ({ id, algorithm }) => algorithm === header.alg && (header.kid === undefined || header.kid === id),
    );
    for (const { algorithm, publicKey } of candidates) {
      try {
        const { payload } = await compactVerify(token, publicKey, { algorithms: [algorithm] });
        return this.#keep(token, parsePayload(payload));
      } catch {
        // Another key may have signed it.
      }
    }
    return undefined;
  }

  #digest(token: string): string {
    return Bun.SHA256.hash(`${this.#salt}${token}`, "base64");
  }

  #keep(token: string, claims: ServiceAccountClaims | undefined): ServiceAccountClaims | undefined {
    if (claims !== undefined) this.#claims.set(this.#digest(token), claims);
    return claims;
  }
}

function isCanonical(token: string): boolean {
  return token.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part);
}

function parsePayload(bytes: Uint8Array): ServiceAccountClaims | undefined {
  const payload: unknown = JSON.parse(new TextDecoder().decode(bytes));
  return isJsonObject(payload as JsonObject) ? parseClaims(payload as JsonObject) : undefined;
}

/** Reads the issuer of a token without verifying it, to choose the authenticator. */
export function claimedIssuer(token: string): string | undefined {
  const parts = token.split(".", 4);
  if (parts.length !== 3) return undefined;
  try {
    const payload: unknown = JSON.parse(Buffer.from(parts[1] as string, "base64url").toString("utf8"));
    const { iss } = payload as { iss?: unknown };
    return typeof iss === "string" ? iss : undefined;
  } catch {
    return undefined;
  }
}
