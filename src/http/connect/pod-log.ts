import { type FieldError, fieldError } from "../../api/field-error.ts";
import { timeErrorText } from "../../api/schema/time-error.ts";
import { parseTimeMs } from "../../api/schema/time-text.ts";
import { StatusError, status } from "../../api/status.ts";
import { authorityOf } from "../../client/dial-error.ts";
import type { Connector } from "../../registry/endpoint.ts";
import type { HttpResponse } from "../../request/exchange.ts";
import { type Query, queryFlag, queryValue } from "../../request/request-info.ts";
import { queryInteger } from "../query-integer.ts";
import { webSocketRequest, webSocketStream } from "../web-socket.ts";
import { ask, type BackendAnswer, passOn } from "./forward.ts";
import { containerOf } from "./pod-container.ts";
import { agentOf, type NodeConnectorParts, nodeNameOf, podOf, target } from "./pod-node.ts";

/** Maximum length of a node's error that is passed on. */
const errorBytesMax = 50_000;

/** Serves `pods/x/log`, the output of a container, from the node that runs it. */
export function podLog(parts: NodeConnectorParts): Connector {
  return async (call) => {
    const { query, name, namespace } = call.request;
    const asked = webSocketRequest(call.exchange.request);
    const options = logOptions(query);
    if (options.errors.length > 0) throw status.invalid({ group: "", kind: "PodLogOptions", name }, options.errors);
    const pod = podOf(parts, call, name);
    const container = containerOf(pod, queryValue(query, "container"));
    const nodeName = nodeNameOf(pod);
    if (nodeName === "") return { kind: "reply", code: 204, headers: [], body: new Uint8Array() };
    const agent = agentOf(parts, nodeName, parts.pods);
    const path = target(["containerLogs", namespace, name, container], options.parameters);
    const answer = await ask(call.exchange.request, agent, path).catch((error: Error) => {
      throw status.unconverted(`Get "https://${authorityOf(agent)}${path}": ${error.message}`);
    });
    if (answer.code >= 400) return refuse(answer, name);
    const log = passOn({ ...answer, headers: textHeaders(answer) });
    return asked === undefined ? log : webSocketStream(asked, log);
  };
}

interface LogOptions {
  readonly errors: readonly FieldError[];
  /** Returns the query for the node's agent. */
  readonly parameters: URLSearchParams;
}

function logOptions(query: Query): LogOptions {
  const parameters = new URLSearchParams();
  const errors: FieldError[] = [];
  for (const flag of ["follow", "previous", "timestamps"]) if (queryFlag(query, flag)) parameters.set(flag, "true");
  const bounds = { sinceSeconds: 1, tailLines: 0, limitBytes: 1 };
  for (const [name, min] of Object.entries(bounds)) {
    const value = queryInteger(query, name);
    if (value === undefined) continue;
    parameters.set(name, String(value));
    const text = min === 0 ? "must be greater than or equal to 0" : "must be greater than 0";
    if (value < min) errors.push(fieldError.invalid(name, value, text));
  }
  const since = queryValue(query, "sinceTime");
  if (since !== "") {
    if (parseTimeMs(since) === undefined) throw status.badRequest(timeErrorText(since, ""));
    parameters.set("sinceTime", since);
    if (parameters.has("sinceSeconds")) {
      errors.push(fieldError.forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
    }
  }
  // The gate PodLogsQuerySplitStreams is off in the served release.
  if (query.has("stream")) errors.push(fieldError.forbidden("stream", "may not be specified"));
  return { errors, parameters };
}

function textHeaders({ headers }: BackendAnswer): [string, string][] {
  const length = headers.filter(([name]) => name === "content-length");
  return [["content-type", "text/plain"], ...length];
}

/** Returns the node's error as a Status of the same kind. */
async function refuse({ code, message }: BackendAnswer, name: string): Promise<HttpResponse> {
  let text = "";
  for await (const chunk of message) {
    text += (chunk as Buffer).toString("utf8");
    if (text.length >= errorBytesMax) break;
  }
  message.destroy();
  const why = text.slice(0, errorBytesMax).trim();
  if (code === 400) throw status.badRequest(why);
  if (code === 404) {
    const { status: missing } = status.notFound({ group: "", resource: "pods/log", name });
    throw new StatusError({ ...missing, message: `the server could not find the requested resource (${why})` });
  }
  throw code === 500 ? status.internal(why) : status.unconverted(why);
}
