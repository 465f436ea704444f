import { decodeMessage, ProtobufDecodeError } from "../../api/codec/protobuf.ts";
import type { JsonObject } from "../../api/json.ts";
import { textOf } from "../../api/json-reading.ts";
import { objectValuesMax } from "../../api/object-extent.ts";
import { decodeTyped } from "../../api/schema/decode.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { status } from "../../api/status.ts";
import { deleteOptionsOf, ignoreReadErrorsOption } from "../../registry/delete-options.ts";
import type { DeleteOptions } from "../../registry/strategy.ts";
import { header } from "../../request/exchange.ts";
import { type Query, queryFlag, queryValue } from "../../request/request-info.ts";
import { decodeBody } from "../decode-body.ts";
import { queryInteger } from "../query-integer.ts";
import { typedDocument, unregistered } from "./body-type.ts";
import { bodyMediaTypes, type ResourceCall } from "./endpoint.ts";

/**
 * Reads the options of a delete from the body if there is one, otherwise from the query.
 * @throws StatusError 400, 415, 422 (DeleteOptions)
 */
export async function readDeleteOptions(call: ResourceCall): Promise<DeleteOptions> {
  const bytes = await call.exchange.request.body();
  const values = bytes.length === 0 ? fromQuery(call.request.query) : await fromBody(call, bytes);
  if (call.parts.unreadableDeletes === undefined) delete values[ignoreReadErrorsOption];
  return deleteOptionsOf(values);
}

/** Warns about options with a special effect for the kind, even if there is nothing to delete. */
export function warnAboutDelete({ strategy, exchange }: ResourceCall, options: DeleteOptions): void {
  exchange.warnings.push(...(strategy.deleteWarnings?.(options) ?? []));
}

async function fromBody(call: ResourceCall, bytes: Uint8Array): Promise<JsonObject> {
  const { exchange, parts } = call;
  const schema = parts.typeSchema("meta/v1.DeleteOptions");
  const body = await decodeBody(bytes, header(exchange.request, "content-type"), {
    strict: false,
    accepted: bodyMediaTypes,
    cbor: parts.cbor,
  });
  const value =
    body.kind === "protobuf" ? decodeOptionsMessage(schema, body.envelope.raw) : typedDocument(body.value, bytes);
  refuseOtherKind(value);
  try {
    return decodeTyped(schema, value, { kind: "DeleteOptions" }).object;
  } catch (error) {
    if (error instanceof DecodeTypeError) throw status.badRequest(error.message);
    throw error;
  }
}

const ownVersion = "meta.k8s.io/v1";
/** Kinds that upstream can read in place of options, in any version and in that of the options. */
const readableKinds = new Set(
  "APIGroup APIGroupList APIResourceList APIVersions CreateOptions Status UpdateOptions".split(" "),
);
const ownKinds = new Set(
  "GetOptions ListOptions PartialObjectMetadata PartialObjectMetadataList PatchOptions Table TableOptions WatchEvent".split(
    " ",
  ),
);

/** @throws StatusError 400 for a body of another kind. A body without a kind has options. */
function refuseOtherKind(body: JsonObject): void {
  const kind = textOf(body["kind"]) || "DeleteOptions";
  if (kind === "DeleteOptions") return;
  const apiVersion = textOf(body["apiVersion"]) || ownVersion;
  const isReadable = readableKinds.has(kind) || (apiVersion === ownVersion && ownKinds.has(kind));
  const unknown = `converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`;
  throw status.badRequest(isReadable ? unknown : unregistered(kind, apiVersion));
}

function decodeOptionsMessage(schema: StructSchema, raw: Uint8Array): JsonObject {
  try {
    return decodeMessage(schema, raw, objectValuesMax);
  } catch (error) {
    if (error instanceof ProtobufDecodeError) throw status.badRequest(error.message);
    throw error;
  }
}

function fromQuery(query: Query): JsonObject {
  const values: JsonObject = {};
  const grace = queryInteger(query, "gracePeriodSeconds");
  if (grace !== undefined) values["gracePeriodSeconds"] = grace;
  if (query.has("orphanDependents")) values["orphanDependents"] = queryFlag(query, "orphanDependents");
  if (query.has("propagationPolicy")) values["propagationPolicy"] = queryValue(query, "propagationPolicy");
  if (query.has(ignoreReadErrorsOption)) values[ignoreReadErrorsOption] = queryFlag(query, ignoreReadErrorsOption);
  if (query.has("dryRun")) values["dryRun"] = [...(query.get("dryRun") ?? [])];
  return values;
}
