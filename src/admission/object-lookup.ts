import type { GroupResource } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";

/** What plugins ask of the objects that exist. The objects are shared: nobody may change them. */
export interface ObjectLookup {
  /** `namespace` is "" for cluster-scoped kinds. */
  get(resource: GroupResource, namespace: string, name: string): KubeObject | undefined;
  /** Those of one namespace, or all of a cluster-scoped kind, in the order of their names. */
  list(resource: GroupResource, namespace: string): readonly KubeObject[];
}
