import { encodeList } from "../../api/codec/encode-list.ts";
import { encodeObject } from "../../api/codec/encode-object.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import type { Entry } from "../../api/entry.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Revision } from "../../api/revision.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import type { ComputedObjects } from "../../registry/computed-objects.ts";
import { selectionOf } from "../../registry/selection.ts";
import type { HttpResponse } from "../../request/exchange.ts";
import { contentTypeOf } from "../negotiate.ts";
import { bytesReply, negotiateFor, type ResourceRequestCall } from "./endpoint.ts";
import { parseListOptions } from "./list-options.ts";

/** Answers GET of a kind that is not stored: one object, or all selected objects. */
export function readComputed(call: ResourceRequestCall, computed: ComputedObjects): HttpResponse {
  return call.request.verb === "get" ? getComputed(call, computed) : listComputed(call, computed);
}

function getComputed(call: ResourceRequestCall, computed: ComputedObjects): HttpResponse {
  const { request, info, parts } = call;
  const representation = negotiateFor(call, "object");
  const object = computed.list().find(({ metadata }) => metadata.name === request.name);
  if (object === undefined) throw status.notFound({ group: info.group, resource: info.singular, name: request.name });
  const entry = entryOf(object, info, parts.store.revision);
  return bytesReply(
    200,
    contentTypeOf(representation, false),
    encodeObject(entry, info, representation, parts.clock.nowMs()),
  );
}

function listComputed(call: ResourceRequestCall, computed: ComputedObjects): HttpResponse {
  const { request, info, parts } = call;
  const representation = negotiateFor(call, "list");
  const { key, matches } = selectionOf(info, "", request.name, parseListOptions(request.query, info, false));
  const { revision } = parts.store;
  const entries = computed
    .list()
    .map((object) => entryOf(object, info, revision))
    .filter((entry) => (key === undefined || entry.key === key) && (matches?.(entry) ?? true));
  return {
    kind: "reply",
    code: 200,
    headers: [["content-type", contentTypeOf(representation, false)]],
    body: encodeList({ entries }, info, representation, parts.clock.nowMs()),
  };
}

/** Returns the object as a store entry, so that it is encoded like all others. */
function entryOf(
  { kind: _kind, apiVersion: _apiVersion, ...body }: KubeObject,
  info: ResourceInfo,
  revision: Revision,
): Entry {
  const { name = "", uid = "", labels } = body.metadata;
  return {
    key: info.keyPrefix + name,
    revision,
    createRevision: revision,
    index: { apiVersion: apiVersionOf(info), uid, labels, fields: undefined, owners: undefined },
    body: Buffer.from(stringifyJson(body as unknown as JsonObject)),
  };
}
