import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { FieldSet } from "./field-set.ts";
import { encodeEntries, storedEntries } from "./managed-fields.ts";
import { identityText, ManagerEntry } from "./manager-entry.ts";
import { fieldElement, type PathElement } from "./path-element.ts";

/** The path of the replicas in each version of a kind; undefined for a version without a Scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>;

const scaleVersion = "autoscaling/v1";
const scalePath = elementsOf(["spec", "replicas"]);
const scaleFields = FieldSet.of(scalePath);

/** The managedFields of a Scale: those who own the number of replicas of its object. */
export function entriesOfScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const owners = entriesIn(entries).filter((entry) => ownsReplicas(entry, paths));
  return encodeEntries(
    owners.map(
      (entry) => new ManagerEntry({ ...identityOf(entry), apiVersion: scaleVersion }, entry.time, scaleFields),
    ),
  );
}

/**
 * The managedFields of an object after a write to its Scale: owners that the Scale does not have any more lose the
 * number of replicas, and new ones own it in `apiVersion`, through the subresource.
 */
export function entriesThroughScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  written: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
  apiVersion: string,
): ManagedFieldsEntry[] | undefined {
  const before = entriesIn(entries);
  const times = new Map(before.map((entry) => [identityText(entry), entry.time]));
  const writers = new Map(entriesIn(written).map((entry) => [identityText(entry), entry]));
  // Entries of one identity replace each other.
  const after = new Map<string, ManagerEntry>();
  for (const entry of before) {
    if (!paths.has(entry.apiVersion)) continue;
    const identity = identityText(entry);
    if (!ownsReplicas(entry, paths) || writers.delete(identity)) {
      after.set(identity, entry);
      continue;
    }
    const left = entry.with(entry.fields.difference(fieldsIn(entry.apiVersion, paths)));
    if (!left.fields.isEmpty) after.set(identity, left);
  }
  for (const [identity, entry] of writers) {
    if (!entry.fields.has(scalePath)) continue;
    const owner = { ...identityOf(entry), apiVersion };
    after.set(identity, new ManagerEntry(owner, times.get(identity) ?? "", fieldsIn(apiVersion, paths)));
  }
  return encodeEntries([...after.values()]);
}

function entriesIn(managedFields: readonly ManagedFieldsEntry[] | undefined): readonly ManagerEntry[] {
  return storedEntries(managedFields === undefined ? undefined : { metadata: { managedFields: [...managedFields] } });
}

function identityOf({ manager, operation, apiVersion, subresource }: ManagerEntry) {
  return { manager, operation, apiVersion, subresource };
}

function ownsReplicas(entry: ManagerEntry, paths: ReplicasPaths): boolean {
  const path = paths.get(entry.apiVersion);
  return path !== undefined && entry.fields.has(elementsOf(path));
}

function fieldsIn(apiVersion: string, paths: ReplicasPaths): FieldSet {
  return FieldSet.of(elementsOf(paths.get(apiVersion) ?? []));
}

function elementsOf(path: readonly string[]): PathElement[] {
  return path.map(fieldElement);
}
