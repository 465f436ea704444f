import type { GroupResource } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";

/** Finds existing objects for plugins. The objects are shared: nobody may change them. */
export interface ObjectLookup {
  /** `namespace` is "" for cluster-scoped kinds. */
  get(resource: GroupResource, namespace: string, name: string): KubeObject | undefined;
  /**
   * Those of one namespace, or all of a cluster-scoped kind, in the order of their names. They stay decoded: for kinds
   * of which there are few.
   */
  list(resource: GroupResource, namespace: string): readonly KubeObject[];
  /** The same for kinds of which there are many: decoded when read, and not kept. */
  scan(resource: GroupResource, namespace: string): Iterable<StoredObject>;
}

export interface StoredObject {
  /** The same for as long as the object does not change. */
  readonly identity: object;
  readonly read: () => KubeObject;
}
