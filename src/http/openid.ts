import { publicJwk, type TokenKey } from "../access/authentication/service-account/keys.ts";
import { status } from "../api/status.ts";
import { type HttpResponse, header } from "../request/exchange.ts";
import type { AppPlugin } from "./app.ts";
import { refuseUnproduced } from "./produced-types.ts";

const configurationPath = "/.well-known/openid-configuration";
const keysPath = "/openid/v1/jwks";
/** Keys change only at a restart. A verifier that does not know a key asks again. */
const cacheControl = "public, max-age=3600";

export interface OpenIdOptions {
  /** Issuer of service account tokens. */
  readonly issuer: string;
  readonly keys: readonly TokenKey[];
  /** Returns the advertised URL of the key set. */
  readonly jwksUri: () => string;
}

/** Serves OpenID discovery, which lets anyone verify service account tokens. */
export function openIdPlugin({ issuer, keys, jwksUri }: OpenIdOptions): AppPlugin {
  const algorithms = [...new Set(keys.map(({ algorithm }) => algorithm))].sort();
  const configuration = () =>
    encode({
      issuer,
      jwks_uri: jwksUri(),
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: algorithms,
    });
  const keySet = encode({ keys: keys.map(publicJwk) });
  return {
    name: "openid",
    paths: [configurationPath, keysPath],
    handle({ request, info }) {
      if (request.method !== "GET" && request.method !== "HEAD") throw status.methodNotAllowed();
      const isKeys = info.path === keysPath;
      const contentType = isKeys ? "application/jwk-set+json" : "application/json";
      refuseUnproduced(header(request, "accept"), [contentType]);
      return document(contentType, isKeys ? keySet : configuration());
    },
  };
}

/** @param origin `https://<host>[:<port>]` at which others reach this server */
export function defaultJwksUri(origin: string): string {
  return origin + keysPath;
}

function document(contentType: string, body: Uint8Array): HttpResponse {
  const headers = [
    ["content-type", contentType],
    ["cache-control", cacheControl],
  ] as const;
  return { kind: "reply", code: 200, headers, body };
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
