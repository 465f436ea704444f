import { maybeDeleting, storedMetadata } from "../../api/codec/stored-metadata.ts";
import type { Key } from "../../api/entry.ts";
import { parseApiVersion } from "../../api/gvk.ts";
import type { OwnerReference } from "../../api/object-meta.ts";
import { storedInfo } from "../../api/scheme/resource.ts";
import type { Catalog } from "../../registry/catalog.ts";
import { uidOf } from "../../storage/object-uid.ts";
import type { Store } from "../../storage/store.ts";
import { awaitsDependents, type OwnerState } from "./verdict.ts";

/** Finds owners in the store by their dependents' references. */
export class OwnerLookup {
  readonly #catalog: Pick<Catalog, "findKind" | "findPrefix">;
  readonly #store: Pick<Store, "get" | "corruptAt">;

  constructor(catalog: Pick<Catalog, "findKind" | "findPrefix">, store: Pick<Store, "get" | "corruptAt">) {
    this.#catalog = catalog;
    this.#store = store;
  }

  /** @param namespace of the dependent; "" for an object without one */
  stateOf({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): OwnerState {
    const version = parseApiVersion(apiVersion);
    const served = version && this.#catalog.findKind({ ...version, kind });
    if (served === undefined) return "unserved";
    const { keyPrefix, namespaced } = storedInfo(served);
    if (this.#catalog.findPrefix(keyPrefix) === undefined) return "unserved";
    if (namespaced && namespace === "") return "outOfReach";
    const key: Key = namespaced ? `${keyPrefix}${namespace}/${name}` : keyPrefix + name;
    const entry = this.#store.get(key);
    if (entry === undefined) return this.#store.corruptAt(key) === undefined ? "absent" : "unreadable";
    if (uidOf(entry) !== uid) return "absent";
    return maybeDeleting(entry) && awaitsDependents(storedMetadata(entry)) ? "awaitsDependents" : "present";
  }
}
