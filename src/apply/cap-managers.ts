import { compareTexts } from "../api/code-points.ts";
import { FieldSet } from "./field-set.ts";
import { identityText, ManagerEntry, type ManagerIdentity } from "./manager-entry.ts";

export const updateManagersMax = 10;
const ancientManager = "ancient-changes";

/** Unites the oldest Update entries of each version while there are more than `updateManagersMax`. */
export function capManagers(entries: readonly ManagerEntry[]): readonly ManagerEntry[] {
  const updaters = entries.filter(({ operation }) => operation === "Update");
  if (updaters.length <= updateManagersMax) return entries;
  const oldestFirst = updaters
    .map((entry) => ({ entry, identity: identityText(entry) }))
    .sort((a, b) => compareTexts(a.entry.time, b.entry.time) || compareTexts(a.identity, b.identity));
  const kept = new Map(entries.map((entry) => [identityText(entry), entry]));
  const buckets = new Map<string, Bucket>();
  let count = updaters.length;
  for (const { entry, identity } of oldestFirst) {
    if (count <= updateManagersMax) break;
    const known = buckets.get(entry.apiVersion);
    if (known === undefined) {
      buckets.set(entry.apiVersion, new Bucket(entry, kept));
      continue;
    }
    known.take(entry, identity);
    count--;
  }
  for (const bucket of buckets.values()) bucket.close();
  return [...kept.values()];
}

/** The entries of a version that become one. The first entry stays by itself until there is a second one. */
class Bucket {
  readonly #identity: ManagerIdentity;
  readonly #text: string;
  readonly #first: ManagerEntry;
  readonly #kept: Map<string, ManagerEntry>;
  #sets: FieldSet[] = [];
  #time = "";

  constructor(first: ManagerEntry, kept: Map<string, ManagerEntry>) {
    const { apiVersion } = first;
    this.#identity = { manager: ancientManager, operation: "Update", apiVersion, subresource: "" };
    this.#text = identityText(this.#identity);
    this.#first = first;
    this.#kept = kept;
  }

  take(entry: ManagerEntry, identity: string): void {
    if (this.#sets.length === 0) this.#open();
    this.#sets.push(entry.fields);
    this.#time = entry.time;
    this.#kept.delete(identity);
    // As upstream has it, a bucket that meets itself here is lost with its fields.
    if (identity === this.#text) this.#sets = [];
  }

  /** Starts with the bucket that is there already, or else with the first entry. */
  #open(): void {
    const present = this.#kept.get(this.#text);
    this.#sets.push((present ?? this.#first).fields);
    this.#kept.delete(present === undefined ? identityText(this.#first) : this.#text);
  }

  close(): void {
    if (this.#sets.length === 0) return;
    this.#kept.set(this.#text, new ManagerEntry(this.#identity, this.#time, FieldSet.unionOf(this.#sets)));
  }
}
