import { prepareEntry } from "../api/codec/prepare-entries.ts";
import { decodeBody } from "../api/codec/stored-object.ts";
import type { Entry, Key } from "../api/entry.ts";
import { type FieldSelector, matchesFields, requireFieldValue } from "../api/field-selector.ts";
import type { JsonObject } from "../api/json.ts";
import { type LabelSelector, matchesLabels } from "../api/label-selector.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { unknownLabelText } from "../api/scheme/selectable-fields.ts";
import { status } from "../api/status.ts";
import type { Pin } from "../storage/cacher/facet.ts";
import type { ContentSelection } from "../storage/cacher/prepared-batch.ts";

/** The objects of a resource that a request selects. Made once per request and applied to each object. */
export interface Selection {
  /** Prefix of the keys of the objects. */
  readonly prefix: Key;
  /** The only key that can match, if the selection requires a name. */
  readonly key: Key | undefined;
  /** Reports whether an entry matches; undefined if everything below the prefix does. */
  readonly matches: ((entry: Entry) => boolean) | undefined;
  /** Conditions that every selected entry meets, by which the cache finds entries without a scan. */
  readonly pins: readonly Pin[];
  /** The selection in two steps, if it depends on content that may need a conversion in between. */
  readonly content?: ContentSelection | undefined;
}

/**
 * Combines namespace, name and selectors. `metadata.name=x` and `metadata.namespace=y` narrow the keys.
 * @throws StatusError 400 for a field that the resource does not select by
 */
export function selectionOf(
  info: ResourceInfo,
  namespace: string,
  name: string,
  { labels, fields }: { labels: LabelSelector; fields: FieldSelector },
): Selection {
  refuseUnknownFields(info, fields);
  const pinnedNamespace = info.namespaced ? namespace || (requireFieldValue(fields, "metadata.namespace") ?? "") : "";
  const pinnedName = name || (requireFieldValue(fields, "metadata.name") ?? "");
  const prefix = pinnedNamespace === "" ? info.keyPrefix : `${info.keyPrefix}${pinnedNamespace}/`;
  const single = pinnedName !== "" && (!info.namespaced || pinnedNamespace !== "");
  const selects = labels.requirements.length > 0 || fields.terms.length > 0 || (pinnedName !== "" && !single);
  const selectsContent =
    info.form.kind === "structural" && fields.terms.some(({ label }) => info.selectableFields.has(label));
  return {
    prefix,
    content: selectsContent ? contentSelection(info, labels, fields, pinnedName) : undefined,
    key: single ? prefix + pinnedName : undefined,
    pins: single ? [] : pinsOf(info, pinnedName, labels, fields),
    matches: selects ? (entry) => matches(entry, info, labels, fields, pinnedName) : undefined,
  };
}

function contentSelection(
  info: ResourceInfo,
  labels: LabelSelector,
  fields: FieldSelector,
  name: string,
): ContentSelection {
  return {
    mayMatch: (entry) => matches(entry, info, labels, { ...fields, terms: [] }, name),
    matches: (prepared) => {
      const body = decodeBody(prepared);
      return matchesFields(
        fields,
        (label) => info.selectableFields.get(label)?.(body) ?? fieldOf(prepared, info, label),
      );
    },
  };
}

function matches(
  entry: Entry,
  info: ResourceInfo,
  labels: LabelSelector,
  fields: FieldSelector,
  name: string,
): boolean {
  if (name !== "" && nameOf(entry.key) !== name) return false;
  if (labels.requirements.length > 0 && !matchesLabels(labels, entry.index.labels)) return false;
  return fields.terms.length === 0 || matchesFields(fields, (label) => fieldOf(entry, info, label));
}

function fieldOf(entry: Entry, info: ResourceInfo, label: string): string {
  if (label === "metadata.name") return nameOf(entry.key);
  if (label === "metadata.namespace") return info.namespaced ? namespaceOf(entry.key, info) : "";
  if (info.form.kind === "structural") return info.selectableFields.get(label)?.(bodyIn(entry, info)) ?? "";
  return entry.index.fields?.[storedLabel(info, label)] ?? "";
}

/** Returns the label by which the stored version selects the field. */
function storedLabel(info: ResourceInfo, label: string): string {
  return info.storedAs?.fieldLabels.get(label) ?? label;
}

/** Returns the conditions that the index of an entry can answer, the most selective kinds first. */
function pinsOf(info: ResourceInfo, name: string, labels: LabelSelector, { terms }: FieldSelector): Pin[] {
  const pins: Pin[] = name === "" ? [] : [{ facet: "name", values: [name] }];
  for (const { label, operator, value } of terms) {
    const isIndexed = info.form.kind !== "structural" && !label.startsWith("metadata.");
    if (operator === "=" && isIndexed) pins.push({ facet: `field ${storedLabel(info, label)}`, values: [value] });
  }
  for (const { key, operator, values } of labels.requirements) {
    const isPinned = operator === "=" || operator === "==" || operator === "in";
    if (isPinned) pins.push({ facet: `label ${key}`, values });
  }
  return pins;
}

/** Returns the body as readers get it, defaults included. A body that only a webhook could convert is unchanged. */
function bodyIn(entry: Entry, info: ResourceInfo): JsonObject {
  if (info.converter?.convertsAtOnce(entry, info) !== true) return decodeBody(entry);
  const prepared = prepareEntry(entry, info);
  return decodeBody(prepared instanceof Promise ? entry : prepared);
}

function nameOf(key: Key): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

function namespaceOf(key: Key, info: ResourceInfo): string {
  return key.slice(info.keyPrefix.length, key.lastIndexOf("/"));
}

/** @throws StatusError 400 for a field that the resource does not select by */
export function refuseUnknownFields(info: ResourceInfo, { terms }: FieldSelector): void {
  for (const { label } of terms) refuseUnknownField(info, label);
}

/**
 * Rejects an unknown label. A cluster-scoped kind selects by its namespace, which is empty, unless it has labels of its
 * own.
 */
function refuseUnknownField(info: ResourceInfo, label: string): void {
  const { namespaced, selectableFields } = info;
  if (label === "metadata.name" || selectableFields.has(label)) return;
  const isBuiltIn = info.form.kind === "struct";
  if (label === "metadata.namespace" && (namespaced || (isBuiltIn && selectableFields.size === 0))) return;
  throw status.badRequest(unknownLabelText(label, info));
}
