import type { Entry } from "../api/entry.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { LabelSelector } from "../api/label-selector.ts";
import type { KubeObject } from "../api/object-meta.ts";

/** Finds existing objects for plugins. The objects are shared and must not be changed. */
export interface ObjectLookup {
  /** Finds an object; `namespace` is "" for cluster-scoped kinds. */
  get(resource: GroupResource, namespace: string, name: string): KubeObject | undefined;
  /** Finds the stored form of an object. */
  entry(resource: GroupResource, namespace: string, name: string): Entry | undefined;
  /**
   * Lists the objects of one namespace, or all of a cluster-scoped kind, ordered by name. They stay decoded, which
   * suits kinds with few objects. With a selector, objects that it does not select are never decoded.
   */
  list(resource: GroupResource, namespace: string, labels?: LabelSelector): readonly KubeObject[];
  /** Lists the objects of kinds with many: they are decoded when read, and not kept. */
  scan(resource: GroupResource, namespace: string): Iterable<StoredObject>;
}

export interface StoredObject {
  /** A value that stays the same for as long as the object does not change. */
  readonly identity: object;
  readonly read: () => KubeObject;
}
