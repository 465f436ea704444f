import { decodeEntry } from "../api/codec/stored-object.ts";
import type { Entry } from "../api/entry.ts";
import type { GroupResource } from "../api/gvk.ts";
import { type LabelSelector, matchesLabels } from "../api/label-selector.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ObjectLookup, StoredObject } from "./object-lookup.ts";
import type { Registry } from "./registry.ts";

/**
 * Caches current objects in decoded form. Entries never change, so each is decoded once while it is current: every
 * write reads the same few namespaces, accounts and quotas.
 */
export class CachedObjects implements ObjectLookup {
  readonly #registryOf: (resource: GroupResource) => Registry | undefined;
  readonly #decoded = new WeakMap<Entry, KubeObject>();

  /** @param registryOf returns undefined for a resource that is not served and has no objects */
  constructor(registryOf: (resource: GroupResource) => Registry | undefined) {
    this.#registryOf = registryOf;
  }

  get(resource: GroupResource, namespace: string, name: string): KubeObject | undefined {
    const registry = this.#registryOf(resource);
    const entry = registry?.cacher.get(registry.keyOf(namespace, name));
    return registry === undefined || entry === undefined ? undefined : this.#decode(entry, registry);
  }

  entry(resource: GroupResource, namespace: string, name: string): Entry | undefined {
    const registry = this.#registryOf(resource);
    return registry?.cacher.get(registry.keyOf(namespace, name));
  }

  list(resource: GroupResource, namespace: string, labels?: LabelSelector): readonly KubeObject[] {
    const registry = this.#registryOf(resource);
    if (registry === undefined) return [];
    const entries = entriesOf(registry, namespace);
    const selected =
      labels === undefined ? entries : entries.filter(({ index }) => matchesLabels(labels, index.labels));
    return selected.map((entry) => this.#decode(entry, registry));
  }

  *scan(resource: GroupResource, namespace: string): Generator<StoredObject> {
    const registry = this.#registryOf(resource);
    if (registry === undefined) return;
    for (const entry of entriesOf(registry, namespace)) {
      yield { identity: entry, read: () => decodeEntry(entry, registry.info) };
    }
  }

  #decode(entry: Entry, { info }: Registry): KubeObject {
    let object = this.#decoded.get(entry);
    if (object === undefined) {
      object = decodeEntry(entry, info);
      this.#decoded.set(entry, object);
    }
    return object;
  }
}

const noEntries: readonly Entry[] = [];

function entriesOf({ cacher, info }: Registry, namespace: string): readonly Entry[] {
  if (cacher.size === 0) return noEntries;
  return cacher.entries(namespace === "" ? info.keyPrefix : `${info.keyPrefix}${namespace}/`);
}
