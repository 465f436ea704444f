import type { JsonValue } from "./json.ts";
import type { ObjectMeta } from "./types/meta-v1.ts";

export type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from "./types/meta-v1.ts";

/**
 * A decoded object of any kind. The registry works on these; the store and the caches only on bytes. Every type in
 * `types/` that has metadata is assignable to it. An absent field is missing, never undefined.
 */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: JsonValue;
}
