import type { Entry } from "../entry.ts";
import { apiVersionOf } from "../gvk.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { Revision } from "../revision.ts";
import type { StructSchema } from "../schema/schema.ts";
import { structOf } from "../scheme/object-form.ts";
import type { ResourceInfo } from "../scheme/resource.ts";
import { joinBytes, toBytes } from "./byte-text.ts";
import { cborListParts } from "./encode-list-cbor.ts";
import { protobufListParts } from "./encode-list-protobuf.ts";
import { yamlListParts } from "./encode-list-yaml.ts";
import { stringifyJson } from "./json.ts";
import type { ListHead } from "./list-head.ts";
import { stringifyObject } from "./managed-fields-text.ts";
import {
  partialMetadataKind,
  partialMetadataListKind,
  partialMetadataOfEntry,
  partialMetadataSchema,
  showsStoredMetadata,
} from "./partial-metadata.ts";
import { isPlainJson, type Representation, type Transform } from "./representation.ts";
import { decodeItem, decodeStored, embedBody, metadataBytes, servesStoredBytes, typePrefix } from "./stored-object.ts";
import { columnDefinitions, tableRow, tableType } from "./table/table.ts";

/** Approximate size of the pieces in which a list is written, so that memory use does not depend on its length. */
export const listSlabBytes = 256 * 1024;

export interface ListPage {
  readonly entries: readonly Entry[];
  /** Absent for kinds that are not stored. */
  readonly revision?: Revision;
  /** Token of the next page. */
  readonly continue?: string;
  /** Number of objects after this page. */
  readonly remaining?: number;
}

const nothing = new Uint8Array();
const comma = toBytes(",");
const listEnd = toBytes("]}\n");
const metadataKey = toBytes('"metadata":');
const closeBrace = toBytes("}");

/** Encodes the body of a list response in slabs. Each slab is a new buffer, because the socket may hold on to it. */
export function* encodeList(
  page: ListPage,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Generator<Uint8Array> {
  const head = listHead(page, info, representation);
  yield* slabs(listParts(head, page, info, representation, nowMs));
}

/** Returns kind, apiVersion and metadata of the list in the form that the client requested. */
function listHead(page: ListPage, info: ResourceInfo, { transform }: Representation): ListHead {
  const metadata = listMeta(page, info, transform);
  switch (transform.kind) {
    case "none":
      return { kind: info.listKind, apiVersion: apiVersionOf(info), metadata, extra: {}, itemsField: "items" };
    case "partialMetadata": {
      const gvk = partialMetadataListKind(transform.version);
      const isNull = page.entries.length === 0;
      const type = { kind: gvk.kind, apiVersion: apiVersionOf(gvk) };
      return { ...type, metadata, extra: {}, itemsField: "items", ...(isNull ? { isNull } : {}) };
    }
    case "table": {
      const extra = { columnDefinitions: columnDefinitions(info) };
      return { ...tableType(transform), metadata, extra, itemsField: "rows" };
    }
  }
}

/** Returns the metadata of a list. Lists of custom resources have `continue` even on the last page. */
function listMeta(page: ListPage, { form }: ResourceInfo, { kind }: Transform): JsonObject {
  const { continue: token = "" } = page;
  const namesToken = token !== "" || (form.kind === "structural" && kind === "none");
  return {
    ...(page.revision === undefined ? {} : { resourceVersion: String(page.revision) }),
    ...(namesToken ? { continue: token } : {}),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}

function listParts(
  head: ListHead,
  page: ListPage,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Iterable<Uint8Array> {
  switch (representation.mediaType) {
    case "application/json":
      return representation.pretty
        ? prettyParts(head, documents(page, info, representation, nowMs))
        : jsonParts(head, jsonItems(page, info, representation, nowMs));
    case "application/vnd.kubernetes.protobuf":
      return protobufListParts(head, documents(page, info, representation, nowMs), itemSchema(info, representation));
    case "application/yaml":
      return yamlListParts(head, documents(page, info, representation, nowMs));
    case "application/cbor":
      return cborListParts(head, page.entries.length, documents(page, info, representation, nowMs));
  }
}

function itemSchema(info: ResourceInfo, { transform }: Representation): StructSchema {
  return transform.kind === "none" ? structOf(info) : partialMetadataSchema();
}

function* jsonParts(head: ListHead, items: Iterable<Uint8Array>): Generator<Uint8Array> {
  const { kind, apiVersion, metadata, extra, itemsField, isNull = false } = head;
  const opening = stringifyJson({ kind, apiVersion, metadata, ...extra });
  if (isNull) {
    yield toBytes(`${opening.slice(0, -1)},"${itemsField}":null}\n`);
    return;
  }
  yield toBytes(`${opening.slice(0, -1)},"${itemsField}":[`);
  let first = true;
  for (const item of items) {
    if (!first) yield comma;
    first = false;
    yield item;
  }
  yield listEnd;
}

function* jsonItems(
  page: ListPage,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Generator<Uint8Array> {
  if (isPlainJson(representation) && servesStoredBytes(info)) {
    if (info.form.kind === "struct") {
      for (const entry of page.entries) yield entry.body;
      return;
    }
    // Items of custom resources name their type.
    const prefix = typePrefix(info);
    for (const entry of page.entries) yield embedBody([prefix], entry, nothing);
    return;
  }
  if (representation.transform.kind === "partialMetadata" && showsStoredMetadata(info)) {
    const prefix = typePrefix(partialMetadataKind(representation.transform.version));
    for (const entry of page.entries) yield joinBytes([prefix, metadataKey, metadataBytes(entry), closeBrace]);
    return;
  }
  for (const document of documents(page, info, representation, nowMs)) yield toBytes(stringifyObject(document));
}

/** Yields the items one at a time, decoded and in the form that the client requested. */
function* documents(
  page: ListPage,
  info: ResourceInfo,
  { transform }: Representation,
  nowMs: number,
): Generator<JsonObject> {
  for (const entry of page.entries) {
    if (transform.kind === "none") yield decodeItem(entry, info);
    else if (transform.kind === "table") yield tableRow(decodeStored(entry, info), info, transform, nowMs);
    else yield partialMetadataOfEntry(entry, info, transform.version);
  }
}

/** Newlines inside JSON strings are escaped, so indenting line by line is safe. */
function* prettyParts(head: ListHead, items: Iterable<JsonValue>): Generator<Uint8Array> {
  const { kind, apiVersion, metadata, extra, itemsField, isNull = false } = head;
  if (isNull) {
    yield toBytes(stringifyJson({ kind, apiVersion, metadata, ...extra, [itemsField]: null }, 2));
    return;
  }
  const opening = stringifyJson({ kind, apiVersion, metadata, ...extra }, 2);
  yield toBytes(`${opening.slice(0, -2)},\n  "${itemsField}": [`);
  let empty = true;
  for (const item of items) {
    yield toBytes(`${empty ? "" : ","}\n    ${stringifyJson(item, 2).replaceAll("\n", "\n    ")}`);
    empty = false;
  }
  yield toBytes(empty ? "]\n}" : "\n  ]\n}");
}

function* slabs(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  let pending: Uint8Array[] = [];
  let length = 0;
  for (const part of parts) {
    pending.push(part);
    length += part.length;
    if (length < listSlabBytes) continue;
    yield joinBytes(pending);
    pending = [];
    length = 0;
  }
  if (length > 0) yield joinBytes(pending);
}
