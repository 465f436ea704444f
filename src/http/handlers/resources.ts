import { status } from "../../api/status.ts";
import { type Eventual, followedBy } from "../../process/eventual.ts";
import type { Catalog } from "../../registry/catalog.ts";
import type { Exchange, Handler } from "../../request/exchange.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import { unservedPath } from "../unserved-path.ts";

/**
 * Answers requests for some of the resources. Returns undefined for all others.
 * @throws StatusError
 */
export type ResourceServer = (exchange: Exchange, request: ResourceRequest) => ReturnType<Handler> | undefined;

/**
 * Returns a handler that passes each request to the first server that has its resource.
 * @param catalog decides the answer to a path that no server has
 * @param catchUp resolves when this replica has applied everything that clients may know of, because another replica may
 * already serve the resource
 */
export function resourceHandler(
  servers: readonly ResourceServer[],
  catalog: Pick<Catalog, "groups" | "resources">,
  catchUp?: () => Eventual<unknown>,
): Handler {
  const ask = (exchange: Exchange, request: ResourceRequest): ReturnType<Handler> | undefined => {
    for (const server of servers) {
      const answered = server(exchange, request);
      if (answered !== undefined) return answered;
    }
    return undefined;
  };
  return (exchange) => {
    const { info: request } = exchange;
    if (request.kind === "nonResource") throw status.pathNotFound();
    if (request.isAmbiguous) throw unservedPath(request.path, catalog);
    const answered = ask(exchange, request);
    if (answered !== undefined) return answered;
    return followedBy(catchUp?.(), () => {
      const late = ask(exchange, request);
      if (late !== undefined) return late;
      if (catalog.resources(request).length > 0) throw status.resourceNotServed();
      throw unservedPath(request.path, catalog);
    });
  };
}
