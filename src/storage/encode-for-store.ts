import { stringifyJson } from "../api/codec/json.ts";
import { managedFieldsText } from "../api/codec/managed-fields-text.ts";
import type { ObjectIndex } from "../api/entry.ts";
import { apiVersionOf } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";
import type { ObjectForm } from "../api/scheme/object-form.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { IndexCache } from "./mvcc/index-text.ts";
import { ownersOf } from "./object-owners.ts";
import type { ProposedBody } from "./store.ts";

/**
 * Encodes an object for the store: without kind and apiVersion, `metadata` first, and a gap in which the state machine
 * writes the resourceVersion. The object must be in canonical field order (schema/decode.ts).
 * @param written the version whose rules completed the object
 */
export function encodeForStore(
  object: KubeObject,
  info: ResourceInfo,
  written: ResourceInfo = info,
): { index: ObjectIndex; body: ProposedBody } {
  const body = storedBody(object);
  return { index: indexOf(object, info, written, body), body };
}

/** Encodes an object in canonical field order as a stored body. */
export function storedBody(object: KubeObject): ProposedBody {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object as unknown as StoredObject;
  const { name, generateName, namespace, selfLink, uid, resourceVersion: _gap, managedFields, ...after } = metadata;
  const head = stringifyJson({ name, generateName, namespace, selfLink, uid } as JsonObject).slice(0, -1);
  const prefix = `{"metadata":${head}${head === "{" ? "" : ","}"resourceVersion":"`;
  const suffix = `"${fieldsOf(after)}${managedFieldsOf(managedFields)}}${fieldsOf(rest)}}`;
  return { prefix: encoder.encode(prefix), suffix: encoder.encode(suffix) };
}

const encoder = new TextEncoder();

interface StoredObject extends JsonObject {
  readonly metadata: JsonObject & Pick<ObjectMeta, "managedFields">;
}

/** Returns the text that appends an object's fields to others: `{"a":1}` as `,"a":1`. */
function fieldsOf(object: JsonObject): string {
  const text = stringifyJson(object);
  return text === "{}" ? "" : `,${text.slice(1, -1)}`;
}

/** Returns the text of managedFields, which are the last part of metadata. */
function managedFieldsOf(managedFields: ObjectMeta["managedFields"]): string {
  return managedFields === undefined ? "" : `,"managedFields":${managedFieldsText(managedFields)}`;
}

/** Objects keep their indexes as long as they exist, and many have equal ones. */
const indexes = new IndexCache();

function indexOf(object: KubeObject, info: ResourceInfo, written: ResourceInfo, body: ProposedBody): ObjectIndex {
  const index = {
    ...metadataIndex(object),
    apiVersion: apiVersionOf(info),
    fields: info.form.kind === "structural" ? undefined : selectableFieldsOf(object, info),
    ...formOf(info.form, written.form),
  };
  return indexes.shared(index, body.prefix);
}

/** Returns the index of an object of which only the metadata is known. @param body its stored body */
export function plainIndex(object: KubeObject, body: ProposedBody): ObjectIndex {
  const index = { ...metadataIndex(object), apiVersion: object.apiVersion, fields: undefined };
  return indexes.shared(index, body.prefix);
}

function metadataIndex({ metadata: { labels, uid, ownerReferences } }: KubeObject) {
  return {
    uid: uid ?? "",
    labels: labels !== undefined && Object.keys(labels).length > 0 ? labels : undefined,
    owners: ownersOf(ownerReferences),
  };
}

/**
 * Returns the form to record. Only a body completed by a version's own schema is what a reader of that version expects.
 */
function formOf(form: ObjectForm, written: ObjectForm): Pick<ObjectIndex, "form"> {
  if (form.kind !== "structural" || written.kind !== "structural") return {};
  return form.id === written.id ? { form: form.id } : {};
}

function selectableFieldsOf(object: KubeObject, info: ResourceInfo): Record<string, string> | undefined {
  if (info.selectableFields.size === 0) return undefined;
  const fields = Object.create(null) as Record<string, string>;
  for (const [label, read] of info.selectableFields) fields[label] = read(object as unknown as JsonObject);
  return fields;
}
