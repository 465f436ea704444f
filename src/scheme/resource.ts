import type { JsonObject } from "../api/json.ts";
import type { GroupVersionKind } from "../api/gvk.ts";
import type { StructSchema } from "../schema/schema.ts";

export interface SubresourceInfo {
  /** `status`, `finalize` … */
  readonly name: string;
  /** Kind and version of the body, which may differ from the parent's. */
  readonly gvk: GroupVersionKind;
  readonly verbs: readonly string[];
  readonly schema: StructSchema;
}

/** One served (group, version, resource). Everything here is data; rules of one resource live in its Strategy. */
export interface ResourceInfo extends GroupVersionKind {
  /** The plural, as in the URL. */
  readonly resource: string;
  readonly singular: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly storageVersionHash: string;
  /** Answered and never stored: reviews, bindings. Has no keys and no registry. */
  readonly virtual: boolean;
  /** `/registry/pods/`, with the trailing slash. */
  readonly keyPrefix: string;
  readonly schema: StructSchema;
  readonly columns: readonly TableColumn[];
  /** Label of a field selector → path of the field in the object; beyond metadata.name and metadata.namespace. */
  readonly selectableFields: ReadonlyMap<string, FieldReader>;
  readonly subresources: ReadonlyMap<string, SubresourceInfo>;
}

/** Reads one selectable field as text; "" when absent. */
export type FieldReader = (object: JsonObject) => string;

export interface TableColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}
