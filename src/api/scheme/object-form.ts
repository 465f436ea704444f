import type { JsonObject, JsonValue } from "../json.ts";
import { type Decoded, decodeTyped } from "../schema/decode.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { nullEmptyCollections } from "../schema/empty-collections.ts";
import type { StructSchema } from "../schema/schema.ts";
import type { OpenApiSchema } from "../structural/open-api-schema.ts";

/**
 * Rules for reading and completing documents of one version of a resource. Protobuf, strategic merge patches and
 * declared rules need a struct; features that rely on one check for a schema and reject kinds without it.
 */
export type ObjectForm = StructForm | StructuralForm;

export interface DecodeOptions {
  /** Name of the type in the error for a document that is not an object. */
  readonly kind: string;
  /** Reuses unchanged parts of the input instead of copying them; the caller must not change it later. */
  readonly takesOver?: boolean;
  /** Keeps nulls of custom fields that cannot be null, so that they are refused and not dropped. */
  readonly keepsNulls?: boolean;
  /** A decoded document, whose parts may be in the document again. They are not decoded again. */
  readonly settled?: JsonObject | undefined;
}

interface DocumentRules {
  /**
   * Converts a document to canonical form. Drops and reports unknown fields.
   * @throws DecodeTypeError when a value has the wrong type or form
   */
  decode(document: JsonValue, options: DecodeOptions): Decoded;
  /**
   * Applies defaults to a decoded document, in place.
   * @param settled a document that has its defaults; parts that both documents share are skipped
   */
  applyDefaults(object: JsonObject, settled?: JsonObject): void;
  /** Completes a decoded document, in place, before it is stored. */
  complete(object: JsonObject): void;
}

/** Form of built-in kinds, whose documents are structs. */
export interface StructForm extends DocumentRules {
  readonly kind: "struct";
  readonly schema: StructSchema;
}

/** Form of custom kinds, whose documents follow a structural OpenAPI schema. */
export interface StructuralForm extends DocumentRules {
  readonly kind: "structural";
  /** Id that differs between schemas that read documents differently. */
  readonly id: string;
  /** The `openAPIV3Schema` of the version without its texts; read on first use. */
  readonly schema: OpenApiSchema;
  /** Reads the `openAPIV3Schema` of the version. The result is not cached. */
  readSchema(): JsonObject;
  /** Does now what the first document needs. A large schema takes many milliseconds; yields between the parts. */
  prepare(): Generator<void, void>;
}

const structForms = new WeakMap<StructSchema, StructForm>();

/** Returns the form of a struct: one object per schema. */
export function structForm(schema: StructSchema): StructForm {
  let form = structForms.get(schema);
  if (form === undefined) {
    form = {
      kind: "struct",
      schema,
      decode: (document, options) => decodeTyped(schema, document, options),
      applyDefaults: (object, settled) => applyDefaults(schema, object, settled),
      complete: (object) => nullEmptyCollections(schema, object),
    };
    structForms.set(schema, form);
  }
  return form;
}

/**
 * Returns the struct of a built-in kind.
 * @throws Error for a custom kind, which the caller should have excluded
 */
export function structOf({ form }: { readonly form: ObjectForm }): StructSchema {
  if (form.kind === "struct") return form.schema;
  throw new Error("a custom kind has no struct");
}
