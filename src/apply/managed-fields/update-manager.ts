import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../api/object-meta.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { capManagers } from "./cap-managers.ts";
import { compareObjects } from "./compare.ts";
import { FieldSet } from "./field-set.ts";
import {
  decodeManagedFields,
  encodeManagedFields,
  isSameManager,
  ManagerEntry,
  storedManagers,
} from "./manager-entry.ts";

export interface UpdateWrite {
  /** The stored object; undefined when the write creates it. */
  readonly old: KubeObject | undefined;
  /** The object as it will be stored, with the managedFields that the client sent. */
  readonly new: KubeObject;
  readonly schema: StructSchema;
  readonly manager: string;
  /** Of the request. */
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** Both objects as another version has them; undefined when that is not served. Default: there is one version. */
  inVersion?(apiVersion: string): VersionedObjects | undefined;
  /** Paths that a write through this endpoint cannot change. */
  readonly resetFields?: FieldSet;
}

/** What is written, in one version. */
export interface VersionedObjects {
  readonly old: KubeObject | undefined;
  readonly new: KubeObject;
  readonly schema: StructSchema;
}

/** What nobody owns, wherever it is written. */
const untracked = FieldSet.of(
  ["f:apiVersion"],
  ["f:kind"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((field) => ["f:metadata", `f:${field}`]),
);
const metadataItself = FieldSet.of(["f:metadata"]);
const nobody: KubeObject = { apiVersion: "", kind: "", metadata: {} };
const ignoredWithReset = new WeakMap<FieldSet, FieldSet>();

/**
 * The managedFields after a create, update or patch that is no apply: the writer owns what it added or changed, and no
 * one owns what is gone. The entries are the stored ones, unchanged, when nothing changed hands. Undefined when there
 * are none. Neither object is changed.
 */
export function updateManagedFields(write: UpdateWrite): ManagedFieldsEntry[] | undefined {
  return compareForUpdate(write)();
}

/**
 * The first half of `updateManagedFields`: compares the objects. What it returns does the rest. Between the two others
 * may have a turn, as each half takes long for a large object.
 */
export function compareForUpdate(write: UpdateWrite): () => ManagedFieldsEntry[] | undefined {
  const known = knownEntries(write);
  const { taken, removed } = changesOf(write, write.resetFields);
  return () => {
    if (taken.isEmpty && removed.isEmpty) return known.length === 0 ? undefined : encodeManagedFields(known);
    const after = capManagers(changeHands(known, { write, taken, removed }));
    return after.length === 0 ? undefined : encodeManagedFields(after);
  };
}

interface FieldChanges {
  readonly taken: FieldSet;
  readonly removed: FieldSet;
}

function changesOf({ old, new: object, schema }: VersionedObjects, resetFields: FieldSet | undefined): FieldChanges {
  const comparison = compareObjects(
    (old ?? nobody) as unknown as JsonObject,
    object as unknown as JsonObject,
    schema,
    ignoredOf(resetFields),
  );
  return {
    taken: comparison.added.union(comparison.changed).difference(metadataItself),
    removed: comparison.removed,
  };
}

function ignoredOf(resetFields: FieldSet | undefined): FieldSet {
  if (resetFields === undefined) return untracked;
  let ignored = ignoredWithReset.get(resetFields);
  if (ignored === undefined) {
    ignored = untracked.union(resetFields);
    ignoredWithReset.set(resetFields, ignored);
  }
  return ignored;
}

/** The entries before the write: those that the client sent, where it may and they make sense; else the stored ones. */
function knownEntries(write: UpdateWrite): readonly ManagerEntry[] {
  if (write.old === undefined) return [];
  const stored = write.old.metadata.managedFields ?? [];
  const sent = write.new.metadata.managedFields as JsonValue | undefined;
  if (write.subresource === "" && Array.isArray(sent) && sent.length > 0 && sent !== stored) {
    if (isReset(sent)) return [];
    const decoded = equalJson(sent, stored) ? undefined : decodeManagedFields(sent);
    if (decoded !== undefined) return decoded;
  }
  return storedManagers(stored);
}

/** One empty entry asks for a fresh start. An empty list does not: clients that know no managedFields send it. */
function isReset(sent: readonly JsonValue[]): boolean {
  const [only] = sent;
  return sent.length === 1 && isJsonObject(only) && Object.keys(only).length === 0;
}

interface Change extends FieldChanges {
  readonly write: UpdateWrite;
}

/** Paths mean something in their version only: entries of another one are compared in that version. */
function changeHands(entries: readonly ManagerEntry[], change: Change): ManagerEntry[] {
  const { write, taken, removed } = change;
  const { manager, apiVersion, subresource, now } = write;
  const writer = new ManagerEntry({ manager, operation: "Update", apiVersion, subresource }, now, taken);
  const after: ManagerEntry[] = [];
  let known = false;
  const byVersion = new Map<string, FieldChanges>([[apiVersion, { taken, removed }]]);
  for (const entry of entries) {
    if (isSameManager(entry, writer)) {
      known = true;
      if (entry.covers(taken) && !entry.meets(removed)) after.push(entry);
      else after.push(...unlessEmpty(entry.set.difference(removed).union(taken), entry, now));
    } else {
      after.push(...left(entry, changesIn(entry.apiVersion, change, byVersion)));
    }
  }
  if (!known && !taken.isEmpty) after.push(writer);
  return after;
}

/** What an entry keeps when another writer makes the changes. */
function left(entry: ManagerEntry, { taken, removed }: FieldChanges): ManagerEntry[] {
  if (!entry.meets(taken) && !entry.meets(removed)) return [entry];
  return unlessEmpty(entry.set.difference(taken).difference(removed), entry, entry.time);
}

function unlessEmpty(set: FieldSet, entry: ManagerEntry, time: string): ManagerEntry[] {
  return set.isEmpty ? [] : [entry.with(set, time)];
}

function changesIn(apiVersion: string, { write, ...own }: Change, known: Map<string, FieldChanges>): FieldChanges {
  let changes = known.get(apiVersion);
  if (changes === undefined) {
    const objects = write.inVersion?.(apiVersion);
    changes = objects === undefined ? own : changesOf(objects, write.resetFields);
    known.set(apiVersion, changes);
  }
  return changes;
}

/** `resetFields` for top-level fields: `status` for writes of the object, `spec` for those of its status. Hold on to it. */
export function topLevelFieldSet(names: readonly string[]): FieldSet {
  return FieldSet.of(...names.map((name) => [`f:${name}`]));
}
