import type { JsonObject } from "../../api/json.ts";
import type { StructSchema } from "../../api/schema/schema.ts";

/** Swagger 2.0 or OpenAPI 3.0: they differ in where definitions live and in what may stand beside a reference. */
export type Dialect = "v2" | "v3";

/** The type of a request's or an answer's document: a generated struct, or one that a custom kind defines. */
export type DocumentType = StructSchema | CustomType;

export interface CustomType {
  readonly kind: "custom";
  /** As definitions are called: `com.example.v1.Widget`. */
  readonly name: string;
  /** The types that the definition refers to. */
  readonly refersTo: readonly DocumentType[];
  define(dialect: Dialect): JsonObject;
}
