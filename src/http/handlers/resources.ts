import { status } from "../../api/status.ts";
import { bodyInfoOf } from "../../api/scheme/body-info.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { Scheme } from "../../api/scheme/scheme.ts";
import type { Connector } from "./endpoint.ts";
import type { Exchange, Handler } from "../../request/exchange.ts";
import type { ResourceRequest, Verb } from "../../request/request-info.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { deleteCollection } from "./delete-collection.ts";
import type { HandlerParts, ResourceRequestCall, VerbHandler } from "./endpoint.ts";
import { noteDeprecation } from "./deprecated-version.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { patch } from "./patch.ts";
import { readComputed } from "./read-computed.ts";
import { runAction } from "./run-action.ts";
import { update } from "./update.ts";
import { watch } from "./watch.ts";

/** One handler per verb; a verb without a line here does not compile. */
const handlers = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: deleteCollection,
  proxy: () => {
    throw status.methodNotAllowed();
  },
} satisfies Record<Verb, VerbHandler>;

/** Finds the resource of a request and hands it to its verb. */
export function resourceHandler(parts: HandlerParts): Handler {
  return (exchange: Exchange) => {
    const { info: request } = exchange;
    if (request.kind === "nonResource") throw status.pathNotFound();
    const call = { exchange, request, info: findResource(request, parts), parts };
    noteDeprecation(call);
    return request.subresource === "" ? toResource(call) : toSubresource(call);
  };
}

/** Whether somebody answers for a resource, or for one of its subresources. What nobody answers for is a 404 and not discovered. */
export function isServed(
  { action, computed, connector, subresource: strategy, view }: Endpoints,
  info: ResourceInfo,
  subresource: string,
): boolean {
  if (subresource === "") return !info.virtual || action(info, "") !== undefined || computed?.(info) !== undefined;
  return [action, connector, strategy, view].some((find) => find(info, subresource) !== undefined);
}

type Endpoints = Pick<HandlerParts, "action" | "computed" | "connector" | "subresource" | "view">;

/** @throws StatusError 404 for what is not served, 405 for a path that does not fit the resource's scope */
function findResource(request: ResourceRequest, parts: HandlerParts): ResourceInfo {
  const { group, version, resource, verb } = request;
  const info = parts.scheme.find(group, version, resource);
  if (info === undefined && !serves(parts.scheme, group, version)) throw status.pathNotFound();
  if (info === undefined || !isServed(parts, info, "")) throw status.resourceNotServed();
  const collectionVerb = verb === "list" || verb === "watch";
  if (info.namespaced && request.namespace === "" && (request.nameInPath || !collectionVerb)) {
    if (request.nameInPath) throw status.resourceNotServed();
    throw status.methodNotAllowed();
  }
  if (!info.namespaced && request.namespace !== "" && resource !== "namespaces") throw status.resourceNotServed();
  return info;
}

function serves(scheme: Scheme, group: string, version: string): boolean {
  return scheme.groups().some((served) => served.group === group && served.versions.includes(version));
}

/** @throws StatusError 405 for a verb that the resource does not have */
function toResource(call: ResourceRequestCall): ReturnType<Handler> {
  const { request, info, parts } = call;
  if (!info.verbs.includes(request.verb) || !fitsPath(request)) throw status.methodNotAllowed();
  const computed = info.virtual ? parts.computed?.(info) : undefined;
  if (computed !== undefined) return readComputed(call, computed);
  const action = info.virtual ? parts.action(info, "") : undefined;
  if (action !== undefined) return runAction(call, action, info);
  const registry = parts.registry(info);
  const { exchange } = call;
  return handlers[request.verb]({ exchange, request, info, parts, registry, strategy: registry.strategy });
}

/** @throws StatusError 404 for a subresource that is not served, 405 for a verb that it does not have */
function toSubresource(call: ResourceRequestCall): ReturnType<Handler> {
  const { request, info, parts } = call;
  const subresource = info.subresources.get(request.subresource);
  if (subresource === undefined || !isServed(parts, info, subresource.name)) throw status.resourceNotServed();
  if (!subresource.verbs.includes(request.verb)) throw status.methodNotAllowed();
  const connector = parts.connector(info, subresource.name);
  if (connector !== undefined) return connect(call, connector);
  const action = parts.action(info, subresource.name);
  if (action !== undefined) return runAction(call, action, bodyInfoOf(info, subresource));
  const registry = parts.registry(info);
  const strategy = parts.subresource(info, subresource.name) ?? registry.strategy;
  return handlers[request.verb]({ ...call, registry, strategy, view: parts.view(info, subresource.name) });
}

/** @throws StatusError 400: there is no way to try a connection out */
function connect(call: ResourceRequestCall, connector: Connector): ReturnType<Handler> {
  if ((call.request.query.get("dryRun") ?? []).some((value) => value !== "")) {
    throw status.badRequest("dryRun is not supported");
  }
  return connector(call);
}

/** Creation is a request to the collection, update and patch to one object; the other verbs follow from the path. */
function fitsPath({ verb, nameInPath }: ResourceRequest): boolean {
  if (verb === "create") return !nameInPath;
  return nameInPath || (verb !== "update" && verb !== "patch");
}
