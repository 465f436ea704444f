import type { Entry } from "../entry.ts";
import type { JsonObject } from "../json.ts";
import { structOf } from "../scheme/object-form.ts";
import type { ResourceInfo } from "../scheme/resource.ts";
import { joinBytes, toBytes } from "./byte-text.ts";
import { EncodedForms, type EntryForm } from "./encoded-forms.ts";
import { stringifyJson } from "./json.ts";
import { stringifyObject } from "./managed-fields-text.ts";
import {
  type MetaVersion,
  partialMetadataJson,
  partialMetadataOfEntry,
  partialMetadataSchema,
  showsStoredMetadata,
} from "./partial-metadata.ts";
import { encodeMessage } from "./protobuf.ts";
import { decodeItem, decodeServed, decodeStored, embedBody, servesStoredBytes, typePrefix } from "./stored-object.ts";
import { RowTime } from "./table/row-time.ts";
import { rowWithoutObject, type TableTransform } from "./table/table.ts";
import { transcodeMessage, transcodeMetadata } from "./transcode-message.ts";

/** Limit of the memory for entries in the forms in which they were sent, of all kinds together. */
const keptBytesMax = 64 * 1024 * 1024;
const kept = new EncodedForms(keptBytesMax);

/** Returns an entry in a form, encoded now or for an earlier reader. */
export function encodedEntry(entry: Entry, form: EntryForm, nowMs: number): Uint8Array {
  return kept.get(entry, form, nowMs);
}

/** Returns the form of protobuf messages, which have no envelope and do not name their type. */
export function messageForm(info: ResourceInfo): EntryForm {
  return formOf(info, "message", () => {
    const schema = structOf(info);
    const decoded = (entry: Entry) => encodeMessage(schema, decodeItem(entry, info));
    if (!servesStoredBytes(info)) return lasting(decoded);
    return lasting((entry) => transcodeMessage(schema, entry.body) ?? decoded(entry));
  });
}

/** Returns the form of PartialObjectMetadata in protobuf. The message is the same in both versions. */
export function metadataMessageForm(info: ResourceInfo): EntryForm {
  return formOf(info, "metadata message", () => {
    const schema = partialMetadataSchema();
    const decoded = (entry: Entry) => encodeMessage(schema, partialMetadataOfEntry(entry, info, "v1"));
    if (!showsStoredMetadata(info)) return lasting(decoded);
    return lasting((entry) => transcodeMetadata(schema, entry.body) ?? decoded(entry));
  });
}

/** Returns the form of PartialObjectMetadata in JSON. */
export function metadataItemForm(info: ResourceInfo, version: MetaVersion): EntryForm {
  return formOf(info, `metadata ${version}`, () => lasting((entry) => partialMetadataJson(entry, info, version)));
}

const closeBrace = toBytes("}");
const jsonNull = toBytes("null");
const noBytes = new Uint8Array();

/** Returns the form of rows of tables in JSON. */
export function rowForm(info: ResourceInfo, { version, includeObject }: TableTransform): EntryForm {
  return formOf(info, `row ${version} ${includeObject}`, () => {
    const objectOfRow = rowObject(info, version, includeObject);
    return (entry, nowMs) => {
      const time = new RowTime(nowMs);
      const row = stringifyJson(rowWithoutObject(decodeStored(entry, info), info, time));
      const bytes = joinBytes([toBytes(`${row.slice(0, -1)},"object":`), objectOfRow(entry), closeBrace]);
      return { bytes, staleAtMs: time.staleAtMs };
    };
  });
}

/** Returns the writer of the object in a row. */
function rowObject(
  info: ResourceInfo,
  version: MetaVersion,
  includeObject: TableTransform["includeObject"],
): (entry: Entry) => Uint8Array {
  switch (includeObject) {
    case "None":
      return () => jsonNull;
    case "Metadata":
      return (entry) => partialMetadataJson(entry, info, version);
    case "Object": {
      if (!servesStoredBytes(info))
        return (entry) => toBytes(stringifyObject(decodeServed(entry, info) as unknown as JsonObject));
      const prefix = typePrefix(info);
      return (entry) => embedBody([prefix], entry, noBytes);
    }
  }
}

/** Returns the form of list items in JSON, for a version whose items are not the stored bodies. */
export function itemForm(info: ResourceInfo): EntryForm {
  return formOf(info, "item", () => lasting((entry) => toBytes(stringifyObject(decodeItem(entry, info)))));
}

const forms = new WeakMap<ResourceInfo, Map<string, EntryForm>>();

/** Returns the form of a resource by its name, whose encoder is made on first use. */
function formOf(info: ResourceInfo, name: string, makeEncoder: () => EntryForm["encode"]): EntryForm {
  let named = forms.get(info);
  if (named === undefined) {
    named = new Map();
    forms.set(info, named);
  }
  let form = named.get(name);
  if (form === undefined) {
    form = { encode: makeEncoder() };
    named.set(name, form);
  }
  return form;
}

/** Returns the encoder of a form that does not depend on the time. */
function lasting(encode: (entry: Entry) => Uint8Array): EntryForm["encode"] {
  return (entry) => ({ bytes: encode(entry) });
}
