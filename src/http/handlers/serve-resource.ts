import { bodyInfoOf } from "../../api/scheme/body-info.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import type { Endpoint } from "../../registry/endpoint.ts";
import type { Handler } from "../../request/exchange.ts";
import type { ResourceRequest, Verb } from "../../request/request-info.ts";
import { connect } from "./connect.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { deleteCollection } from "./delete-collection.ts";
import { noteDeprecation } from "./deprecated-version.ts";
import type { ResourceRequestCall, VerbHandler } from "./endpoint.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { refuseName } from "./object-identity.ts";
import { patch } from "./patch.ts";
import { readComputed } from "./read-computed.ts";
import { runAction } from "./run-action.ts";
import { update } from "./update.ts";
import { watch } from "./watch.ts";

/** One handler per verb. A missing verb does not compile. */
const handlers = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: deleteCollection,
  proxy: refuseMethod,
  "": refuseMethod,
} satisfies Record<Verb, VerbHandler>;

function refuseMethod(): never {
  throw status.methodNotAllowed();
}

/** The differences between the servers of built-in and of custom kinds. */
export interface ServerRules {
  /** Throws the answer to a subresource that the resource does not have. */
  refuseSubresource(call: ResourceRequestCall): never;
  /** Rejects a request if no accepted form can represent its answer. */
  refuseMediaTypes?(call: ResourceRequestCall, endpoint: Endpoint): void;
}

/**
 * Answers a request for a known resource.
 * @throws StatusError
 */
export function serveResource(call: ResourceRequestCall, rules: ServerRules): ReturnType<Handler> {
  const { exchange, request, info, parts } = call;
  refuseOtherScope(request, info);
  const endpoint = parts.endpoint(info, request.subresource);
  if (endpoint === undefined) return rules.refuseSubresource(call);
  if (request.isBeyond || !hasPath(call)) throw status.resourceNotServed();
  if (!hasVerb(call)) throw status.methodNotAllowed();
  rules.refuseMediaTypes?.(call, endpoint);
  const isUpdate = request.verb === "update" && endpoint.kind !== "connection";
  if (request.nameInPath && !isUpdate) refuseName(request.name);
  noteDeprecation(call);
  if (isValuelessDryRun(request)) exchange.warnings.push(valuelessDryRunText);
  return answer(call, endpoint);
}

/** @throws StatusError 404 or 405 for a path that does not fit the scope of the resource */
function refuseOtherScope({ verb, namespace, nameInPath, resource }: ResourceRequest, info: ResourceInfo): void {
  const collectionVerb = verb === "list" || verb === "watch";
  if (info.namespaced && namespace === "") {
    if (nameInPath || !info.verbs.includes("list")) throw status.resourceNotServed();
    if (!collectionVerb) throw status.methodNotAllowed();
  }
  if (!info.namespaced && namespace !== "" && resource !== "namespaces") throw status.resourceNotServed();
}

const valuelessDryRunText =
  "the parameter dryRun has no value: this request takes effect; use dryRun=All to try it out";

/** Reports `?dryRun` without a value, which is a real request. */
function isValuelessDryRun({ verb, query }: ResourceRequest): boolean {
  const values = query.get("dryRun");
  const isRead = verb === "get" || verb === "list" || verb === "watch";
  return values !== undefined && !isRead && values.every((value) => value === "");
}

const collectionVerbs = ["list", "watch", "create", "deletecollection"];
const objectVerbs = ["get", "update", "patch", "delete"];

/** Reports whether the resource supports any verb at a path of this form. */
function hasPath({ request: { verb, subresource, nameInPath, isWatchPath }, info }: ResourceRequestCall): boolean {
  if (verb === "proxy") return false;
  if (isWatchPath) return info.verbs.includes("watch");
  if (subresource !== "") return true;
  return (nameInPath ? objectVerbs : collectionVerbs).some((each) => info.verbs.includes(each));
}

function hasVerb({ exchange, request, info }: ResourceRequestCall): boolean {
  if (request.verb === "" || (request.isWatchPath && !isReading(exchange.request.method))) return false;
  if (request.subresource === "") return info.verbs.includes(request.verb) && fitsPath(request);
  return info.subresources.get(request.subresource)?.verbs.includes(request.verb) ?? false;
}

function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function answer(call: ResourceRequestCall, endpoint: Endpoint): ReturnType<Handler> {
  const { exchange, request, info, parts } = call;
  const handle = handlers[request.verb];
  switch (endpoint.kind) {
    case "stored": {
      const { registry } = endpoint;
      return handle({ exchange, request, info, parts, registry, strategy: registry.strategy });
    }
    case "subresource": {
      const { registry, strategy } = endpoint;
      return handle({ exchange, request, info, parts, registry, strategy });
    }
    case "view": {
      const { registry, view } = endpoint;
      return handle({ exchange, request, info, parts, registry, strategy: registry.strategy, view });
    }
    case "action": {
      const subresource = info.subresources.get(request.subresource);
      return runAction(call, endpoint.action, subresource === undefined ? info : bodyInfoOf(info, subresource));
    }
    case "computed":
      return readComputed(call, endpoint.objects);
    case "connection":
      return connect(call, endpoint.connect);
  }
}

/** Create is a request to the collection; update and patch are requests to an object. The path determines the others. */
function fitsPath({ verb, nameInPath }: ResourceRequest): boolean {
  if (verb === "create") return !nameInPath;
  return nameInPath || (verb !== "update" && verb !== "patch");
}
