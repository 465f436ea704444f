import type { JsonObject, JsonValue } from "../json.ts";
import { type Decoded, decodeTyped } from "../schema/decode.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { nullEmptyCollections } from "../schema/empty-collections.ts";
import type { StructSchema } from "../schema/schema.ts";

/**
 * How the documents of one version of a resource are read and completed. Protobuf, strategic merge patches and declared
 * rules need a struct: whoever offers them asks for the schema, and refuses where there is none.
 */
export type ObjectForm = StructForm | StructuralForm;

export interface DecodeOptions {
  /** Names the type in the error for a document that is no object. */
  readonly kind: string;
  /** Parts that need no change are taken over instead of copied; nobody changes the input any more. */
  readonly takesOver?: boolean;
}

interface DocumentRules {
  /**
   * Brings a document into canonical form. Unknown fields are dropped and reported.
   * @throws DecodeTypeError when a value has the wrong type or form
   */
  decode(document: JsonValue, options: DecodeOptions): Decoded;
  /** Fills in, in place, what a decoded document leaves open. */
  applyDefaults(object: JsonObject): void;
  /** Gives a decoded document, in place, its last touch before it is stored. */
  complete(object: JsonObject): void;
}

/** The form of built-in kinds: documents are structs. */
export interface StructForm extends DocumentRules {
  readonly kind: "struct";
  readonly schema: StructSchema;
}

/** The form of custom kinds: documents follow a structural OpenAPI schema. */
export interface StructuralForm extends DocumentRules {
  readonly kind: "structural";
  /** Differs between schemas that read documents differently. */
  readonly id: string;
  /** Reads the `openAPIV3Schema` of the version, which nobody keeps. */
  readSchema(): JsonObject;
}

const structForms = new WeakMap<StructSchema, StructForm>();

/** Returns the form of a struct: one object for each schema. */
export function structForm(schema: StructSchema): StructForm {
  let form = structForms.get(schema);
  if (form === undefined) {
    form = {
      kind: "struct",
      schema,
      decode: (document, options) => decodeTyped(schema, document, options),
      applyDefaults: (object) => applyDefaults(schema, object),
      complete: (object) => nullEmptyCollections(schema, object),
    };
    structForms.set(schema, form);
  }
  return form;
}

/** Returns the struct of a built-in kind. @throws Error for a custom kind: the caller should have looked at its form */
export function structOf({ form }: { readonly form: ObjectForm }): StructSchema {
  if (form.kind === "struct") return form.schema;
  throw new Error("a custom kind has no struct");
}
