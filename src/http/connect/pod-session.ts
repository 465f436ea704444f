import type { Authorizer } from "../../access/authorization/authorizer.ts";
import { forbiddenError } from "../../access/authorization/forbidden.ts";
import { status } from "../../api/status.ts";
import type { ConnectionCall, Connector } from "../../registry/endpoint.ts";
import { header } from "../../request/exchange.ts";
import { type Query, queryFlag, queryValue } from "../../request/request-info.ts";
import { containerOf } from "./pod-container.ts";
import { agentOf, type NodeConnectorParts, nodeNameOf, podOf, target } from "./pod-node.ts";
import { tunnel } from "./tunnel.ts";

export interface SessionParts extends NodeConnectorParts {
  readonly authorizer: Authorizer;
}

/** Serves `pods/x/exec` and `pods/x/attach`, the streams of a process in a container. */
export function podProcess(parts: SessionParts, kind: "exec" | "attach"): Connector {
  return async (call) => {
    const { query, name, namespace } = call.request;
    const pod = podOf(parts, call, name);
    const container = containerOf(pod, queryValue(query, "container"));
    const parameters = streamParameters(query);
    if (kind === "exec") for (const word of query.get("command") ?? []) parameters.append("command", word);
    return session(parts, call, nodeNameOf(pod), target([kind, namespace, name, container], parameters));
  };
}

/** Serves `pods/x/portforward`, connections to ports of a pod. */
export function podPortForward(parts: SessionParts): Connector {
  return async (call) => {
    const { query, name, namespace } = call.request;
    const ports = portsOf(query);
    const pod = podOf(parts, call, name);
    const parameters = new URLSearchParams();
    if (ports.length > 0) parameters.set("port", ports.join(","));
    return session(parts, call, nodeNameOf(pod), target(["portForward", namespace, name], parameters));
  };
}

/** @throws StatusError 400 for a port that is not a number */
function portsOf(query: Query): string[] {
  const ports = (query.get("ports") ?? []).flatMap((list) => list.split(",")).filter((port) => port !== "");
  const bad = ports.find((port) => !/^[0-9]+$/.test(port));
  if (bad === undefined) return ports;
  throw status.badRequest(
    `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(bad)}: invalid syntax`,
  );
}

async function session(
  parts: SessionParts,
  call: ConnectionCall,
  nodeName: string,
  path: string,
): ReturnType<typeof tunnel> {
  if (nodeName === "") throw status.badRequest(`pod ${call.request.name} does not have a host assigned`);
  const agent = agentOf(parts, nodeName, parts.pods);
  const { request } = call.exchange;
  if (request.upgraded === undefined) throw status.badRequest("Upgrade request required");
  await authorizeCreation(parts.authorizer, call);
  return tunnel(request, request.upgraded, agent, path);
}

/**
 * Authorizes a WebSocket. Its request is a GET, so permission to read would be enough to open a session. Therefore the
 * user must also have permission to create it.
 */
async function authorizeCreation(authorizer: Authorizer, { exchange, request }: ConnectionCall): Promise<void> {
  if (request.verb === "create" || (header(exchange.request, "upgrade") ?? "").toLowerCase() !== "websocket") return;
  const attributes = { ...request, verb: "create" } as const;
  const { kind, reason } = await authorizer.authorize(exchange.user, attributes);
  if (kind !== "allow") throw forbiddenError(exchange.user, attributes, reason);
}

/** The agent's names for parameters differ from the API's. */
const streamNames = { stdin: "input", stdout: "output", stderr: "error", tty: "tty" } as const;

function streamParameters(query: Query): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, agentName] of Object.entries(streamNames)) {
    if (queryFlag(query, name)) parameters.set(agentName, "1");
  }
  return parameters;
}
