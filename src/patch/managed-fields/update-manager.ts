import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../api/object-meta.ts";
import type { StructSchema } from "../../schema/schema.ts";
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
  /** Paths that a write through this endpoint cannot change. */
  readonly resetFields?: FieldSet;
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
  const known = knownEntries(write);
  const old = (write.old ?? nobody) as unknown as JsonObject;
  const comparison = compareObjects(
    old,
    write.new as unknown as JsonObject,
    write.schema,
    ignoredOf(write.resetFields),
  );
  const taken = comparison.added.union(comparison.changed).difference(metadataItself);
  if (taken.isEmpty && comparison.removed.isEmpty) return known.length === 0 ? undefined : encodeManagedFields(known);
  const after = capManagers(changeHands(known, { write, taken, removed: comparison.removed }));
  return after.length === 0 ? undefined : encodeManagedFields(after);
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

interface Change {
  readonly write: UpdateWrite;
  readonly taken: FieldSet;
  readonly removed: FieldSet;
}

function changeHands(entries: readonly ManagerEntry[], { write, taken, removed }: Change): ManagerEntry[] {
  const { manager, apiVersion, subresource, now } = write;
  const writer = new ManagerEntry({ manager, operation: "Update", apiVersion, subresource }, now, taken);
  const after: ManagerEntry[] = [];
  let known = false;
  for (const entry of entries) {
    const isWriter = isSameManager(entry, writer);
    known ||= isWriter;
    const touched = isWriter ? !entry.covers(taken) : entry.meets(taken);
    if (!touched && !entry.meets(removed)) {
      after.push(entry);
      continue;
    }
    const left = isWriter
      ? entry.set.difference(removed).union(taken)
      : entry.set.difference(taken).difference(removed);
    if (!left.isEmpty) after.push(entry.with(left, isWriter ? now : entry.time));
  }
  if (!known && !taken.isEmpty) after.push(writer);
  return after;
}

/** `resetFields` for top-level fields: `status` for writes of the object, `spec` for those of its status. Hold on to it. */
export function topLevelFieldSet(names: readonly string[]): FieldSet {
  return FieldSet.of(...names.map((name) => [`f:${name}`]));
}
