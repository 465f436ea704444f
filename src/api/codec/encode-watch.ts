import type { Clock } from "../../process/clock.ts";
import { apiVersionOf } from "../gvk.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../object-meta.ts";
import type { Revision } from "../revision.ts";
import { type ResourceInfo, storedInfo } from "../scheme/resource.ts";
import type { Status } from "../status.ts";
import { initialEventsEndAnnotation, protobufMediaType } from "../vendor.ts";
import type { WatchEventType } from "../watch-event.ts";
import { joinBytes, toBytes } from "./byte-text.ts";
import { encodeDocument, encodeEnvelope, type TypedDocument } from "./encode-document.ts";
import { encodeStoredEnvelope, statusSchema, transformed } from "./encode-object.ts";
import { encodedEntry, rowForm } from "./entry-forms.ts";
import type { FrameEncoder } from "./frame-encoder.ts";
import { stringifyJson } from "./json.ts";
import { partialMetadata, partialMetadataJson } from "./partial-metadata.ts";
import { prepareEntries } from "./prepare-entries.ts";
import { encodeWatchFrame } from "./protobuf.ts";
import type { Representation } from "./representation.ts";
import { decodeServed, decodeStored, embedBody, servesStoredBytes, typePrefix } from "./stored-object.ts";
import { columnDefinitions, type TableTransform, tableRow, tableType } from "./table/table.ts";
import { zeroObject } from "./zero-object.ts";

const eventPrefixes: Record<WatchEventType, Uint8Array> = {
  ADDED: toBytes('{"type":"ADDED","object":'),
  MODIFIED: toBytes('{"type":"MODIFIED","object":'),
  DELETED: toBytes('{"type":"DELETED","object":'),
  BOOKMARK: toBytes('{"type":"BOOKMARK","object":'),
  ERROR: toBytes('{"type":"ERROR","object":'),
};
const eventEnd = toBytes("}\n");
const rowsEnd = toBytes("]}}\n");

/** Returns the encoder for one watch response. Encoders with the same `format` produce interchangeable frames. */
export function frameEncoder(info: ResourceInfo, representation: Representation, clock: Clock): FrameEncoder {
  const encoder = plainEncoder(info, representation, clock);
  if (info.converter === undefined) return encoder;
  return { ...encoder, prepare: (entries) => prepareEntries(entries, info) };
}

/** Returns an encoder for entries that need no preparation. */
function plainEncoder(info: ResourceInfo, representation: Representation, clock: Clock): FrameEncoder {
  const { mediaType, transform } = representation;
  if (mediaType !== "application/json" && transform.kind !== "table") {
    return binaryFrames(info, representation, clock);
  }
  const format = `${apiVersionOf(info)}/${info.resource} ${mediaType}`;
  switch (transform.kind) {
    case "none":
      return jsonFrames(`${format} plain`, info);
    case "partialMetadata":
      return partialJsonFrames(`${format} partial ${transform.version}`, info, transform.version);
    case "table":
      return tableFrames(info, transform, clock);
  }
}

function jsonFrames(format: string, info: ResourceInfo): FrameEncoder {
  const prefix = typePrefix(info);
  return {
    format,
    event: servesStoredBytes(info)
      ? (type, entry) => embedBody([eventPrefixes[type], prefix], entry, eventEnd)
      : (type, entry) => jsonEvent(type, decodeServed(entry, info) as unknown as JsonObject),
    bookmark: (revision, initialEventsEnd) =>
      jsonEvent("BOOKMARK", bookmarkObject(info, revision, initialEventsEnd) as JsonObject),
    error: errorFrame,
  };
}

function partialJsonFrames(format: string, info: ResourceInfo, version: "v1" | "v1beta1"): FrameEncoder {
  return {
    format,
    event: (type, entry) => joinBytes([eventPrefixes[type], partialMetadataJson(entry, info, version), eventEnd]),
    bookmark: (revision, initialEventsEnd) =>
      jsonEvent("BOOKMARK", partialMetadata(bookmarkObject(info, revision, initialEventsEnd), info, version)),
    error: errorFrame,
  };
}

/**
 * Returns an encoder of tables. Ages are those of the time when a row is sent and columns are sent once, so that streams
 * share rows and not frames.
 */
function tableFrames(info: ResourceInfo, transform: TableTransform, clock: Clock): FrameEncoder {
  const form = rowForm(info, transform);
  let columnsSent = false;
  const tableEvent = (type: WatchEventType, resourceVersion: Revision, row: Uint8Array): Uint8Array => {
    const columns = columnsSent ? null : columnDefinitions(info);
    columnsSent = true;
    const metadata = { resourceVersion: String(resourceVersion) };
    const table = stringifyJson({ ...tableType(transform), metadata, columnDefinitions: columns });
    return joinBytes([eventPrefixes[type], toBytes(`${table.slice(0, -1)},"rows":[`), row, rowsEnd]);
  };
  return {
    format: "",
    event: (type, entry) => tableEvent(type, entry.revision, encodedEntry(entry, form, clock.nowMs())),
    bookmark: (revision, initialEventsEnd) => {
      const object = bookmarkObject(storedInfo(info), revision, initialEventsEnd);
      return tableEvent("BOOKMARK", revision, toBytes(stringifyJson(tableRow(object, info, transform, clock.nowMs()))));
    },
    error: errorFrame,
  };
}

/** Returns an encoder for protobuf or CBOR, which builds, transforms and encodes whole objects. */
function binaryFrames(info: ResourceInfo, representation: Representation, clock: Clock): FrameEncoder {
  const { mediaType, transform } = representation;
  const frame = (type: WatchEventType, typed: TypedDocument): Uint8Array => {
    if (mediaType === protobufMediaType) return encodeWatchFrame(type, encodeEnvelope(typed));
    return encodeDocument({ document: { type, object: typed.document }, schema: undefined }, representation);
  };
  const objectFrame = (type: WatchEventType, object: KubeObject) =>
    frame(type, transformed(object, info, representation, clock.nowMs()));
  return {
    format: `${apiVersionOf(info)}/${info.resource} ${mediaType} ${JSON.stringify(transform)}`,
    event:
      mediaType === protobufMediaType
        ? (type, entry) => encodeWatchFrame(type, encodeStoredEnvelope(entry, info, transform, clock.nowMs()))
        : (type, entry) => objectFrame(type, decodeStored(entry, info)),
    bookmark: (revision, initialEventsEnd) =>
      objectFrame("BOOKMARK", bookmarkObject(storedInfo(info), revision, initialEventsEnd)),
    error: (status) => frame("ERROR", { document: status as unknown as JsonObject, schema: statusSchema() }),
  };
}

function errorFrame(status: Status): Uint8Array {
  return jsonEvent("ERROR", status as unknown as JsonObject);
}

function jsonEvent(type: WatchEventType, object: JsonObject): Uint8Array {
  return toBytes(`${stringifyJson({ type, object })}\n`);
}

/** Makes an empty object of the kind that carries a revision: every event up to that revision has been sent. */
function bookmarkObject(info: ResourceInfo, revision: Revision, initialEventsEnd: boolean): KubeObject {
  return {
    kind: info.kind,
    apiVersion: apiVersionOf(info),
    ...zeroObject(info.form),
    metadata: {
      resourceVersion: String(revision),
      ...(initialEventsEnd ? { annotations: { [initialEventsEndAnnotation]: "true" } } : {}),
    },
  };
}
