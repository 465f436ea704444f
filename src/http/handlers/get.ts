import { encodeDecodedInTurns, encodeObjectInTurns } from "../../api/codec/encode-object.ts";
import { prepareEntry } from "../../api/codec/prepare-entries.ts";
import type { Representation } from "../../api/codec/representation.ts";
import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import { status } from "../../api/status.ts";
import { type Eventual, followedBy } from "../../process/eventual.ts";
import { parseResourceVersion, resourceVersionProblem } from "../../registry/resource-version.ts";
import type { HttpResponse } from "../../request/exchange.ts";
import { queryValue } from "../../request/request-info.ts";
import { contentTypeOf } from "../negotiate.ts";
import { bytesReply, negotiateFor, objectNotFound, type ResourceCall, type VerbHandler } from "./endpoint.ts";
import { waitForVersion } from "./freshness.ts";

/** Answers GET of one object with the stored bytes, once this replica is as fresh as the client requires. */
export const get: VerbHandler = (call) => {
  const { request, registry } = call;
  if (request.query.has("export")) {
    throw status.badRequest("the export parameter, deprecated since v1.14, is no longer supported");
  }
  const representation = negotiateFor(call, "object");
  const fresh = waitForVersion(registry.store, parseGetVersion(queryValue(request.query, "resourceVersion")));
  return fresh === undefined ? read(call, representation) : fresh.then(() => read(call, representation));
};

function read(call: ResourceCall, representation: Representation): Eventual<HttpResponse> {
  const { request, info, registry } = call;
  const entry = registry.store.get(registry.keyOf(request.namespace, request.name));
  if (entry === undefined) return objectNotFound(call);
  return followedBy(
    prepareEntry(entry, info, () => call.exchange.request.signal),
    (prepared) => reply(call, prepared, representation),
  );
}

function reply(
  { info, parts, view }: ResourceCall,
  entry: Entry,
  representation: Representation,
): Eventual<HttpResponse> {
  const now = parts.clock.nowMs();
  const body =
    view === undefined
      ? encodeObjectInTurns(entry, info, representation, now)
      : encodeDecodedInTurns(view.show(decodeEntry(entry, info)), view.info, representation, now);
  return followedBy(body, (bytes) => bytesReply(200, contentTypeOf(representation, false), bytes));
}

function parseGetVersion(text: string): number | undefined {
  if (text === "") return undefined;
  const version = parseResourceVersion(text);
  if (version !== undefined) return version;
  throw status.unconverted(resourceVersionProblem(text));
}
