import type { ForwardDocument } from "../openapi/openapi-route.ts";
import { type ProxyParts, proxyRequest, unavailable } from "./proxy-request.ts";
import type { RemoteOpenApi } from "./remote-openapi.ts";

/** Forwards requests for OpenAPI documents to the extension servers that list them. */
export function forwardDocument(documents: Pick<RemoteOpenApi, "owner">, parts: ProxyParts): ForwardDocument {
  return (exchange, key) => {
    const api = documents.owner(key);
    if (api?.remote === undefined) return undefined;
    if (!api.isAvailable) throw unavailable(exchange);
    return proxyRequest(exchange, api.remote, parts);
  };
}
