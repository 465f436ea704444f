import type { ObjectLookup } from "../admission/object-lookup.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { decodeEntry } from "../codec/stored-object.ts";
import type { Entry } from "../storage/store.ts";
import type { Registry } from "./registry.ts";

/**
 * The newest objects, decoded. An entry never changes, so it is decoded once for as long as it is the current one:
 * the same few namespaces, accounts and quotas are looked at by every write.
 */
export class CachedObjects implements ObjectLookup {
  readonly #registryOf: (resource: GroupResource) => Registry | undefined;
  readonly #decoded = new WeakMap<Entry, KubeObject>();

  /** @param registryOf undefined for a resource that is not served: then there are no objects of it */
  constructor(registryOf: (resource: GroupResource) => Registry | undefined) {
    this.#registryOf = registryOf;
  }

  get(resource: GroupResource, namespace: string, name: string): KubeObject | undefined {
    const registry = this.#registryOf(resource);
    const entry = registry?.cacher.get(registry.keyOf(namespace, name));
    return registry === undefined || entry === undefined ? undefined : this.#decode(entry, registry);
  }

  list(resource: GroupResource, namespace: string): readonly KubeObject[] {
    const registry = this.#registryOf(resource);
    if (registry === undefined) return [];
    const { keyPrefix } = registry.info;
    const page = registry.cacher.list({ prefix: namespace === "" ? keyPrefix : `${keyPrefix}${namespace}/` });
    if (page instanceof Promise) throw new Error("the newest state is always in memory");
    return page.entries.map((entry) => this.#decode(entry, registry));
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
