import { type Eventual, followedBy } from "../../process/eventual.ts";
import { atOnce, runSliced } from "../../process/sliced.ts";
import type { Entry } from "../entry.ts";
import { apiVersionOf } from "../gvk.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { Revision } from "../revision.ts";
import type { ResourceInfo } from "../scheme/resource.ts";
import { protobufMediaType } from "../vendor.ts";
import { toBytes } from "./byte-text.ts";
import { cborListParts } from "./encode-list-cbor.ts";
import { itemBytesInSteps, protobufListParts } from "./encode-list-protobuf.ts";
import { yamlListParts } from "./encode-list-yaml.ts";
import type { EntryForm } from "./encoded-forms.ts";
import { encodedEntry, itemForm, messageForm, metadataItemForm, metadataMessageForm, rowForm } from "./entry-forms.ts";
import { stringifyJson } from "./json.ts";
import type { ListHead } from "./list-head.ts";
import { partialMetadataListKind, partialMetadataOfEntry } from "./partial-metadata.ts";
import { isPlainJson, type Representation, type Transform } from "./representation.ts";
import { decodeItem, decodeStored, embedBody, servesStoredBytes, typePrefix } from "./stored-object.ts";
import { columnDefinitions, tableRow, tableType } from "./table/table.ts";

export interface ListPage {
  readonly entries: readonly Entry[];
  /** Absent for kinds that are not stored. */
  readonly revision?: Revision;
  /** Token of the next page. */
  readonly continue?: string;
  /** Number of objects after this page. */
  readonly remaining?: number;
  /** Length of the items in protobuf, if it is known. */
  readonly itemBytes?: number;
}

const nothing = new Uint8Array();
const comma = toBytes(",");
const listEnd = toBytes("]}\n");

/**
 * Returns the page with all that `encodeList` would otherwise compute before its first piece. That can take long, so
 * others have turns of the event loop in between.
 */
export function measuredList(page: ListPage, info: ResourceInfo, representation: Representation): Eventual<ListPage> {
  if (representation.mediaType !== protobufMediaType) return page;
  const steps = itemBytesInSteps(page.entries, itemMessageForm(info, representation));
  return followedBy(runSliced(steps), (itemBytes) => ({ ...page, itemBytes }));
}

/**
 * Encodes the body of a list response in pieces of any size, as they are asked for, so that memory use does not depend on
 * its length. Stored bodies are pieces themselves, not copies.
 */
export function encodeList(
  page: ListPage,
  info: ResourceInfo,
  representation: Representation,
  nowMs: number,
): Iterable<Uint8Array> {
  const head = listHead(page, info, representation);
  return listParts(head, page, info, representation, nowMs);
}

/** Returns the length of the body that `encodeList` encodes, if it is known before the items are encoded. */
export function encodedListLength(
  page: ListPage,
  info: ResourceInfo,
  representation: Representation,
): number | undefined {
  const { itemBytes } = page;
  if (itemBytes !== undefined) {
    let length = itemBytes;
    const around = protobufListParts(listHead(page, info, representation), [], itemBytes);
    for (const part of around) length += part.length;
    return length;
  }
  if (!isPlainJson(representation) || !servesStoredBytes(info) || info.form.kind !== "struct") return undefined;
  let length = Math.max(0, page.entries.length - 1) * comma.length;
  for (const part of jsonParts(listHead(page, info, representation), [])) length += part.length;
  for (const { body } of page.entries) length += body.length;
  return length;
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
      return protobufList(head, page, itemMessageForm(info, representation));
    case "application/yaml":
      return yamlListParts(head, documents(page, info, representation, nowMs));
    case "application/cbor":
      return cborListParts(head, page.entries.length, documents(page, info, representation, nowMs));
  }
}

function protobufList(head: ListHead, { entries, itemBytes }: ListPage, form: EntryForm): Iterable<Uint8Array> {
  return protobufListParts(
    head,
    encodedEntries(entries, form, 0),
    itemBytes ?? atOnce(itemBytesInSteps(entries, form)),
  );
}

function itemMessageForm(info: ResourceInfo, { transform }: Representation): EntryForm {
  return transform.kind === "none" ? messageForm(info) : metadataMessageForm(info);
}

function* encodedEntries(entries: readonly Entry[], form: EntryForm, nowMs: number): Generator<Uint8Array> {
  for (const entry of entries) yield encodedEntry(entry, form, nowMs);
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
  yield* encodedEntries(page.entries, jsonItemForm(info, representation), nowMs);
}

function jsonItemForm(info: ResourceInfo, { transform }: Representation): EntryForm {
  switch (transform.kind) {
    case "none":
      return itemForm(info);
    case "table":
      return rowForm(info, transform);
    case "partialMetadata":
      return metadataItemForm(info, transform.version);
  }
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
