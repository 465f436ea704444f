import { groupVersionPath } from "../../client/resource-path.ts";
import { remoteApis, type ServedApi, type ServedApis } from "../../kinds/apiregistration/api-services.ts";
import type { Exchange, Handler } from "../../request/exchange.ts";
import type { AppPlugin } from "../app.ts";
import type { ResourceServer } from "../handlers/resources.ts";
import { type ProxyParts, proxyRequest, unavailable } from "./proxy-request.ts";

export interface AggregatedServerParts extends ProxyParts {
  readonly apis: ServedApis;
}

/** Serves the group versions that have a service. It is asked first, so this server never serves such a group version. */
export function aggregatedServer(parts: AggregatedServerParts): ResourceServer {
  const { apis } = parts;
  return (exchange, request) => {
    if (!apis.hasRemotes()) return undefined;
    const api = apis.find(request.group, request.version);
    return api?.remote === undefined ? undefined : serve(exchange, api, parts);
  };
}

/** Serves the discovery documents of these group versions, which are not requests for resources. */
export function aggregatedDocuments(parts: AggregatedServerParts): AppPlugin {
  let generation: number | undefined;
  let byPath = new Map<string, ServedApi>();
  const remotes = () => {
    if (generation !== parts.apis.generation()) {
      byPath = remotesByPath(parts.apis);
      generation = parts.apis.generation();
    }
    return byPath;
  };
  const handle: Handler = (exchange) => {
    const api = remotes().get(exchange.info.path);
    if (api === undefined) throw new Error("a path of another plugin");
    return serve(exchange, api, parts);
  };
  return {
    name: "aggregated",
    get paths() {
      return [...remotes().keys()];
    },
    handle,
  };
}

function serve(exchange: Exchange, { remote, isAvailable }: ServedApi, parts: ProxyParts): ReturnType<Handler> {
  if (remote === undefined || !isAvailable) throw unavailable(exchange);
  return proxyRequest(exchange, remote, parts);
}

function remotesByPath(apis: ServedApis): Map<string, ServedApi> {
  return new Map(
    remoteApis(apis).flatMap((api) => {
      const path = groupVersionPath(api);
      return [
        [path, api],
        [`${path}/`, api],
      ] as const;
    }),
  );
}
