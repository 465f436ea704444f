import type { GroupVersionKind } from "../../../api/gvk.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import type { Conversion } from "../../../api/scheme/resource.ts";

/** A version in which objects of a built-in kind can be stored. */
export interface StoredVersion extends GroupVersionKind {
  readonly schema: StructSchema;
  /** Conversion to and from the version that this server keeps in memory; absent if both have the same fields. */
  readonly conversion?: Conversion;
}
