import type { JsonObject } from "../../api/json.ts";
import type { StructSchema } from "../../api/schema/schema.ts";

/** Swagger 2.0 or OpenAPI 3.0. They differ in where definitions live and in what may accompany a reference. */
export type Dialect = "v2" | "v3";

/** The type of a document in a request or an answer: a generated struct, or one that a custom kind defines. */
export type DocumentType = StructSchema | CustomType;

export interface CustomType {
  readonly kind: "custom";
  /** The name in the form of definitions: `com.example.v1.Widget`. */
  readonly name: string;
  /** The types to which the definition refers. */
  readonly refersTo: readonly DocumentType[];
  /** Makes the definition. Yields now and then, because it may be large. */
  define(dialect: Dialect): Generator<void, JsonObject>;
}
