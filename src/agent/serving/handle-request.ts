import { errorReply, isAnswer } from "../../http/error-response.ts";
import type { HttpResponse, IncomingRequest } from "../../request/exchange.ts";
import type { EndpointAccess } from "./endpoint-access.ts";
import { parseTarget, type RequestTarget } from "./request-target.ts";
import { matchRoute, type Route } from "./route.ts";
import { unknownMethod, unknownPath } from "./routes.ts";
import type { RequestCounts } from "./stats/request-counts.ts";

export interface HandlerParts {
  readonly routes: readonly Route[];
  /** Undefined where anyone may ask. */
  readonly access: EndpointAccess | undefined;
  readonly counts: RequestCounts;
  readonly nodeNameOf: (request: IncomingRequest) => string;
}

/** Returns the handler of all requests: authentication and authorization first, so that refusals tell nothing more. */
export function requestHandler(parts: HandlerParts): (request: IncomingRequest) => Promise<HttpResponse> {
  const server = parts.access === undefined ? "readonly" : "readwrite";
  return async (request) => {
    const startedMs = performance.now();
    const end = parts.counts.begin(...labelsOf(parts.routes, request), server);
    const finish = () => end((performance.now() - startedMs) / 1_000);
    let response: HttpResponse;
    try {
      response = await answer(parts, request);
    } catch (error) {
      finish();
      if (!isAnswer(error)) throw error;
      return errorReply(error);
    }
    if (response.kind === "reply") {
      finish();
      return response;
    }
    const stream = response;
    return { ...stream, run: (sink) => stream.run(sink).finally(finish) };
  };
}

async function answer({ routes, access, nodeNameOf }: HandlerParts, request: IncomingRequest): Promise<HttpResponse> {
  const user = await access?.authenticate(request);
  const target = parseTarget(request.rawPath);
  const nodeName = nodeNameOf(request);
  if (access !== undefined && user !== undefined) await access.authorize(user, request.method, target, nodeName);
  const { route, parameters } = routeOf(routes, request.method, target);
  return route.handle({ request, target, nodeName, parameters });
}

/** @throws TextError 404 or 405 */
function routeOf(
  routes: readonly Route[],
  method: string,
  target: RequestTarget,
): { readonly route: Route; readonly parameters: ReadonlyMap<string, string> } {
  let isKnownPath = false;
  for (const route of routes) {
    const parameters = matchRoute(route, target);
    if (parameters === undefined) continue;
    isKnownPath = true;
    if (route.methods.includes("*") || route.methods.includes(method)) return { route, parameters };
  }
  throw isKnownPath ? unknownMethod() : unknownPath();
}

/** Returns the labels of a request: the root of a path that is served, or of two levels for metrics. */
function labelsOf(routes: readonly Route[], { method, rawPath }: IncomingRequest): [method: string, path: string] {
  const [path = ""] = rawPath.split("?");
  const [first = "", second] = path.slice(1).split("/");
  const root = first === "metrics" && second ? `${first}/${second}` : first;
  const isServed = routes.some((route) => route.path === `/${root}` || route.path.startsWith(`/${root}/`));
  return [method, isServed ? root : "other"];
}
