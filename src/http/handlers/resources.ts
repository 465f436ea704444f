import { status } from "../../api/status.ts";
import type { Scheme } from "../../scheme/scheme.ts";
import type { Exchange, Handler, HttpResponse } from "../exchange.ts";
import type { ResourceRequest, Verb } from "../request-info.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { deleteCollection } from "./delete-collection.ts";
import type { HandlerParts, ResourceCall, VerbHandler } from "./endpoint.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { patch } from "./patch.ts";
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

function serves(scheme: Scheme, group: string, version: string): boolean {
  return scheme.groups().some((served) => served.group === group && served.versions.includes(version));
}

/** Finds the resource of a request and hands it to its verb. */
export function resourceHandler(parts: HandlerParts): Handler {
  return async (exchange: Exchange): Promise<HttpResponse> => {
    const { info: request } = exchange;
    if (request.kind === "nonResource") throw status.pathNotFound();
    return handlers[request.verb](findCall(exchange, request, parts));
  };
}

/** @throws StatusError 404 for what is not served, 405 for a verb that the resource does not have */
function findCall(exchange: Exchange, request: ResourceRequest, parts: HandlerParts): ResourceCall {
  const { group, version, resource, subresource, verb } = request;
  const info = parts.scheme.find(group, version, resource);
  if (info === undefined) {
    if (serves(parts.scheme, group, version)) throw status.resourceNotServed();
    throw status.pathNotFound();
  }
  if (info.virtual) throw status.methodNotAllowed();
  const registry = parts.registry(info);
  const collectionVerb = verb === "list" || verb === "watch";
  if (info.namespaced && request.namespace === "" && (request.nameInPath || !collectionVerb)) {
    if (request.nameInPath) throw status.resourceNotServed();
    throw status.methodNotAllowed();
  }
  if (!info.namespaced && request.namespace !== "" && resource !== "namespaces") throw status.resourceNotServed();
  if (subresource === "") {
    if (!info.verbs.includes(verb) || !fitsPath(request)) throw status.methodNotAllowed();
    return { exchange, request, info, registry, strategy: registry.strategy, parts };
  }
  const strategy = parts.subresource(info, subresource);
  if (strategy === undefined) throw status.resourceNotServed();
  if (!(info.subresources.get(subresource)?.verbs ?? []).includes(verb)) throw status.methodNotAllowed();
  return { exchange, request, info, registry, strategy, parts };
}

/** Creation is a request to the collection, update and patch to one object; the other verbs follow from the path. */
function fitsPath({ verb, nameInPath }: ResourceRequest): boolean {
  if (verb === "create") return !nameInPath;
  return nameInPath || (verb !== "update" && verb !== "patch");
}
