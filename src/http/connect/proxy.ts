import type { JsonObject } from "../../api/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { Service } from "../../api/types/core-v1.ts";
import { readyEndpoints, type ServiceLookup } from "../../client/service-endpoints.ts";
import type { ConnectionCall, Connector } from "../../registry/endpoint.ts";
import type { HttpResponse } from "../../request/exchange.ts";
import type { Backend } from "./backend.ts";
import { ask, passOn } from "./forward.ts";
import { agentOf, type NodeConnectorParts, podOf } from "./pod-node.ts";
import { isProxyableIp, proxyableAddress } from "./proxyable-address.ts";
import { splitName } from "./split-name.ts";
import { tunnel } from "./tunnel.ts";

export interface ProxyParts extends NodeConnectorParts {
  readonly services: ServiceLookup;
  readonly randomInt: (below: number) => number;
}

const httpsPort = 443;
const httpPort = 80;

/** Serves `pods/x/proxy`, requests to a port of a pod. */
export function podProxy(parts: ProxyParts): Connector {
  return (call) => {
    const { scheme, name, port } = split(call, "pod");
    const pod = podOf(parts, call, name);
    const host = podIpOf(pod);
    if (!isProxyableIp(host)) throw status.badRequest("address not allowed");
    return proxy(call, backendAt(scheme, host, port === "" ? firstPortOf(pod) : port));
  };
}

/** Serves `services/x/proxy`, requests to one of the endpoints of a service. */
export function serviceProxy(parts: ProxyParts): Connector {
  return (call) => {
    const { scheme, name, port } = split(call, "service");
    const service = parts.services.service(call.request.namespace, name);
    if (service === undefined) throw status.notFound({ group: "", resource: "services", name });
    const { host, port: endpointPort } = endpointOf(parts, call, service, portNameOf(service, port));
    return proxy(call, backendAt(scheme, host, String(endpointPort)));
  };
}

/**
 * Serves `nodes/x/proxy`, requests to the agent of a node or to another port. The node reports its own addresses and
 * agent port, so the address is checked for every port.
 */
export function nodeProxy(parts: ProxyParts): Connector {
  return async (call) => {
    const { scheme, name, port } = split(call, "node");
    const agent = agentOf(parts, name);
    const host = await proxyableAddress(agent.host);
    if (port === "" || port === String(agent.port)) return proxy(call, { ...agent, host, serverName: agent.host });
    return proxy(call, backendAt(scheme, host, port));
  };
}

function split({ request }: ConnectionCall, kind: string): NonNullable<ReturnType<typeof splitName>> {
  const found = splitName(request.name);
  if (found === undefined) throw status.badRequest(`invalid ${kind} request ${JSON.stringify(request.name)}`);
  return found;
}

function backendAt(scheme: string, host: string, port: string): Backend {
  const protocol = scheme === "https" ? "https" : "http";
  const number = port === "" ? (protocol === "https" ? httpsPort : httpPort) : Number(port);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw status.serviceUnavailable(`error trying to reach service: dial tcp: lookup tcp/${port}: unknown port`);
  }
  return { protocol, host, port: number };
}

async function proxy(call: ConnectionCall, backend: Backend): Promise<HttpResponse> {
  const { request } = call.exchange;
  const rest = backendPath(call);
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  if (request.upgraded !== undefined) return tunnel(request, request.upgraded, backend, path);
  if (rest !== path && (request.method === "GET" || request.method === "HEAD")) {
    const own = request.rawPath.slice(0, request.rawPath.length - rest.length);
    return redirectTo(own + path);
  }
  const answer = await ask(request, backend, path).catch((error: Error) => {
    throw status.serviceUnavailable(`error trying to reach service: ${error.message}`);
  });
  return passOn(answer);
}

/** Returns the rest of the client's path after `…/proxy`, byte for byte, with its query. */
function backendPath({ exchange, request, info }: ConnectionCall): string {
  const root = request.group === "" ? 2 : 3;
  const segments = root + (info.namespaced ? 2 : 0) + 3;
  const { rawPath } = exchange.request;
  const mark = rawPath.indexOf("?");
  const pathEnd = mark === -1 ? rawPath.length : mark;
  let at = 0;
  for (let count = 0; count < segments && at < pathEnd; count++) {
    const next = rawPath.indexOf("/", at + 1);
    at = next === -1 ? pathEnd : Math.min(next, pathEnd);
  }
  return rawPath.slice(at);
}

/** Relative links of a page work only with the slash. */
function redirectTo(location: string): HttpResponse {
  return { kind: "reply", code: 301, headers: [["location", location]], body: new Uint8Array() };
}

function podIpOf(pod: KubeObject): string {
  const state = objectOf((pod as JsonObject)["status"]);
  const [first] = objectsOf(state["podIPs"]);
  return first === undefined ? textOf(state["podIP"]) : textOf(first["ip"]);
}

function firstPortOf(pod: KubeObject): string {
  for (const container of objectsOf(objectOf((pod as JsonObject)["spec"])["containers"])) {
    const [port] = objectsOf(container["ports"]);
    if (port !== undefined) return String(numberOf(port["containerPort"]));
  }
  return "";
}

/** Returns the name of a service's port that is given by name or number. */
function portNameOf({ metadata, spec }: Service, port: string): string {
  if (!/^[0-9]{1,5}$/.test(port)) return port;
  const found = spec?.ports?.find((one) => one.port === Number(port));
  if (found !== undefined) return found.name ?? "";
  const name = JSON.stringify(metadata.name ?? "");
  throw status.serviceUnavailable(`no service port ${port} found for service ${name}`);
}

/** Returns a random ready endpoint with the port. @throws StatusError 404 without slices, 503 if none is ready */
function endpointOf(
  { services, randomInt }: ProxyParts,
  { request }: ConnectionCall,
  service: Service,
  portName: string,
): { host: string; port: number } {
  const name = service.metadata.name ?? "";
  const slices = services.endpointSlices(request.namespace, name);
  if (slices.length === 0) throw status.notFound({ group: "", resource: "services", name });
  const found = readyEndpoints(slices, portName).filter(({ host }) => isProxyableIp(host));
  const chosen = found[randomInt(found.length)];
  if (chosen !== undefined) return chosen;
  throw status.serviceUnavailable(`no endpoints available for service ${JSON.stringify(request.name)}`);
}
