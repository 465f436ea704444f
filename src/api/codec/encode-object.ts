import type { Eventual } from "../../process/eventual.ts";
import { runSliced } from "../../process/sliced.ts";
import type { Entry } from "../entry.ts";
import type { GroupVersionKind } from "../gvk.ts";
import type { JsonObject } from "../json.ts";
import { hasMoreValues, ordinaryBytesMax, ordinaryValuesMax } from "../object-extent.ts";
import type { KubeObject } from "../object-meta.ts";
import type { StructSchema } from "../schema/schema.ts";
import { fromStorage } from "../scheme/conversion/convert.ts";
import { goPointer } from "../scheme/go-type.ts";
import type { ResourceInfo } from "../scheme/resource.ts";
import { type Status, type StatusError, status } from "../status.ts";
import { protobufMediaType } from "../vendor.ts";
import { joinBytes, toBytes } from "./byte-text.ts";
import { encodeDocument, encodeDocumentInSteps, type TypedDocument } from "./encode-document.ts";
import type { EntryForm } from "./encoded-forms.ts";
import { encodedEntry, messageForm, metadataMessageForm } from "./entry-forms.ts";
import { metaSchema } from "./meta-schema.ts";
import {
  partialMetadata,
  partialMetadataJson,
  partialMetadataKind,
  partialMetadataSchema,
} from "./partial-metadata.ts";
import { wrapKind } from "./protobuf.ts";
import { isPlainJson, type Representation, type Transform } from "./representation.ts";
import { decodeStored, decodeStoredInSteps, embedBody, servesStoredBytes, typePrefix } from "./stored-object.ts";
import { tableOf } from "./table/table.ts";

const newline = toBytes("\n");

/** Encodes the response body for one stored object. Ages in tables are computed at `nowMs`. */
export function encodeObject(
  entry: Entry,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Uint8Array {
  const known = encodeStored(entry, info, representation, nowMs);
  return known ?? encodeDecoded(decodeStored(entry, info), info, representation, nowMs);
}

/** Does the same, for a large object in several turns of the event loop. */
export function encodeObjectInTurns(
  entry: Entry,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Eventual<Uint8Array> {
  if (entry.body.byteLength <= ordinaryBytesMax) return encodeObject(entry, info, representation, nowMs);
  const known = encodeStored(entry, info, representation, nowMs);
  return known ?? runSliced(encodeInSteps(entry, info, representation, nowMs));
}

function* encodeInSteps(
  entry: Entry,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Generator<void, Uint8Array> {
  const object = yield* decodeStoredInSteps(entry, info);
  return yield* encodeDecodedInSteps(object, info, representation, nowMs);
}

/** Encodes a stored object without decoding it; undefined where that is not possible. */
function encodeStored(
  entry: Entry,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Uint8Array | undefined {
  if (isPlainJson(representation) && servesStoredBytes(info)) {
    return embedBody([typePrefix(info)], entry, newline);
  }
  const { mediaType, transform, pretty } = representation;
  if (mediaType === protobufMediaType) return encodeStoredEnvelope(entry, info, transform, nowMs);
  const isPartial = transform.kind === "partialMetadata" && !transform.list;
  if (mediaType === "application/json" && isPartial && !pretty) {
    return joinBytes([partialMetadataJson(entry, info, transform.version), newline]);
  }
  return undefined;
}

/** Encodes a stored object as protobuf in its envelope. */
export function encodeStoredEnvelope(
  entry: Entry,
  info: ResourceInfo,
  transform: Transform,
  nowMs: number,
): Uint8Array {
  const wrap = (type: GroupVersionKind, form: EntryForm) => wrapKind(type, encodedEntry(entry, form, nowMs));
  switch (transform.kind) {
    case "none":
      return wrap(info, messageForm(info));
    case "partialMetadata":
      if (transform.list) throw notListed(info);
      return wrap(partialMetadataKind(transform.version), metadataMessageForm(info));
    case "table":
      throw new Error("a table has no protobuf form");
  }
}

/**
 * Encodes the response body for an object that does not come from the store: the result of a dry run, or a kind that is
 * never stored. The object is in its stored form.
 */
export function encodeDecoded(
  object: KubeObject,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Uint8Array {
  return encodeDocument(transformed(object, info, representation, nowMs), representation);
}

/** Does the same, for a large object in several turns of the event loop. */
export function encodeDecodedInTurns(
  object: KubeObject,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Eventual<Uint8Array> {
  return hasMoreValues(object as unknown as JsonObject, ordinaryValuesMax)
    ? runSliced(encodeDecodedInSteps(object, info, representation, nowMs))
    : encodeDecoded(object, info, representation, nowMs);
}

function* encodeDecodedInSteps(
  object: KubeObject,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Generator<void, Uint8Array> {
  return yield* encodeDocumentInSteps(transformed(object, info, representation, nowMs), representation);
}

/** Returns the schema for writing a Status as protobuf. */
export function statusSchema(): StructSchema {
  return metaSchema("meta/v1.Status");
}

/** Encodes a Status, to which no transform applies. */
export function encodeStatus(answer: Status, representation: Representation): Uint8Array {
  return encodeDocument({ document: answer as unknown as JsonObject, schema: statusSchema() }, representation);
}

/** Converts an object from its stored form to the version and form that the client requested. */
export function transformed(
  object: KubeObject,
  info: ResourceInfo,
  { transform }: Representation,
  nowMs: number,
): TypedDocument {
  switch (transform.kind) {
    case "none":
      return {
        document: typeFirst(fromStorage(object, info)),
        schema: info.form.kind === "struct" ? info.form.schema : undefined,
      };
    case "partialMetadata":
      if (transform.list) throw notListed(info);
      return { document: partialMetadata(object, info, transform.version), schema: partialMetadataSchema() };
    case "table":
      return { document: tableOf([object], info, transform, nowMs), schema: undefined };
  }
}

function notListed(info: ResourceInfo): StatusError {
  const type = goPointer(info, "object");
  const problem = `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`;
  return status.notAcceptable(problem);
}

function typeFirst(object: KubeObject): JsonObject {
  const { kind, apiVersion, ...rest } = object;
  return { kind, apiVersion, ...rest } as unknown as JsonObject;
}
