import type { JSONWebKeySet } from "jose";
import { getJson } from "../../../client/json-endpoint.ts";
import type { JwtIssuer } from "./authentication-configuration.ts";

const timeoutMs = 10_000;

/**
 * Fetches the key set that an issuer's discovery document names.
 * @throws Error if either cannot be fetched, or the document names another issuer
 */
export async function fetchIssuerKeys({ url, discoveryUrl, certificateAuthority }: JwtIssuer): Promise<JSONWebKeySet> {
  const tls = {
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    rejectUnauthorized: true,
  };
  const get = (from: string) => getJson(from, { signal: AbortSignal.timeout(timeoutMs), tls });
  const document = (await get(discoveryUrl ?? `${url.replace(/\/$/, "")}/.well-known/openid-configuration`)) as {
    issuer?: unknown;
    jwks_uri?: unknown;
  };
  if (document.issuer !== url)
    throw new Error(`the discovery document belongs to the issuer ${JSON.stringify(document.issuer)}`);
  const { jwks_uri: keysUrl } = document;
  if (typeof keysUrl !== "string" || !keysUrl.startsWith("https://")) {
    throw new Error("the discovery document has no https URL for the keys");
  }
  const keys = (await get(keysUrl)) as JSONWebKeySet;
  if (!Array.isArray(keys.keys)) throw new Error("the key set is empty");
  return keys;
}
