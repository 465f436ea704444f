import { stringifyJson } from "../../api/codec/json.ts";
import { metaSchema } from "../../api/codec/meta-schema.ts";
import { fieldErrorText } from "../../api/field-error.ts";
import { cloneJson, emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { type Decoded, decodeTyped, maxUnknownFields } from "../../api/schema/decode.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import type { DecodeOptions, StructuralForm } from "../../api/scheme/object-form.ts";
import type { OpenApiSchema } from "../../api/structural/open-api-schema.ts";
import { StructuralSchema } from "../../api/structural/structural-schema.ts";

/** The form of one version of a custom kind. Its schema is read when it is first needed. */
export class CustomForm implements StructuralForm {
  readonly kind = "structural";
  readonly readSchema: () => JsonObject;
  #structural: StructuralSchema | undefined;
  #id: string | undefined;

  constructor(readSchema: () => JsonObject) {
    this.readSchema = readSchema;
  }

  get structural(): StructuralSchema {
    this.#structural ??= new StructuralSchema(this.readSchema());
    return this.#structural;
  }

  get schema(): OpenApiSchema {
    return this.structural.schema;
  }

  get id(): string {
    this.#id ??= idOf(this.readSchema());
    return this.#id;
  }

  *prepare(): Generator<void, void> {
    if (this.#structural === undefined) {
      const json = this.readSchema();
      yield;
      this.#id ??= idOf(json);
      yield;
      this.#structural ??= new StructuralSchema(json);
    }
    yield* this.#structural.prepare();
  }

  decode(document: JsonValue, { takesOver = false, keepsNulls = false }: DecodeOptions): Decoded {
    if (document !== null && !isJsonObject(document)) {
      throw new DecodeTypeError("json: cannot unmarshal into Go value of type map[string]interface {}");
    }
    const given = document ?? emptyJsonObject();
    const object = takesOver ? given : cloneJson(given);
    const unknownFields = decodeMetadata(object);
    const undeclared = this.structural.prune(object);
    if (!keepsNulls) this.structural.dropNulls(object);
    const embedded = this.structural.coerceEmbedded(object);
    if (embedded.error !== undefined) throw new DecodeTypeError(fieldErrorText(embedded.error));
    const all = [...unknownFields, ...undeclared, ...embedded.unknownFields];
    return { object, unknownFields: all.slice(0, maxUnknownFields) };
  }

  applyDefaults(object: JsonObject): void {
    this.structural.applyDefaults(object);
  }

  /** Does nothing, because documents are stored unchanged. */
  complete(): void {}
}

function idOf(schema: JsonObject): string {
  return Bun.SHA256.hash(stringifyJson(schema), "base64").slice(0, idLength);
}

/** Number of characters of a hash that distinguish the schemas of one kind. */
const idLength = 16;

/** Brings the metadata into its typed form, in place. @returns the paths of unknown fields */
function decodeMetadata(object: JsonObject): string[] {
  const { metadata } = object;
  if (metadata === undefined) return [];
  const decoded = decodeTyped(metaSchema("meta/v1.ObjectMeta"), metadata, { kind: "ObjectMeta", takesOver: true });
  object["metadata"] = decoded.object;
  return decoded.unknownFields.map((field) => `metadata.${field}`);
}
