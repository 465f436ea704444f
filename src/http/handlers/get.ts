import { status } from "../../api/status.ts";
import { encodeObject } from "../../codec/encode-object.ts";
import { contentTypeOf } from "../../codec/negotiate.ts";
import { parseResourceVersion } from "../../registry/resource-version.ts";
import { queryValue } from "../request-info.ts";
import { bytesReply, negotiateFor, objectNotFound, type VerbHandler } from "./endpoint.ts";
import { waitForVersion } from "./freshness.ts";

/** GET of one object: the stored bytes, once this replica is as new as the client asks. */
export const get: VerbHandler = async (call) => {
  const { request, info, registry, parts } = call;
  if (request.query.has("export")) {
    throw status.badRequest("the export parameter, deprecated since v1.14, is no longer supported");
  }
  const representation = negotiateFor(call, "object");
  await waitForVersion(parts.store, parseGetVersion(queryValue(request.query, "resourceVersion")));
  const entry = parts.store.get(registry.keyOf(request.namespace, request.name));
  if (entry === undefined) return objectNotFound(call);
  const body = encodeObject(entry, info, representation, parts.clock.nowMs());
  return bytesReply(200, contentTypeOf(representation, false), body);
};

function parseGetVersion(text: string): number | undefined {
  if (text === "") return undefined;
  const version = parseResourceVersion(text);
  if (version !== undefined) return version;
  const quoted = JSON.stringify(text);
  throw status.unconverted(
    `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
  );
}
