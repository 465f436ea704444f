import type { FieldError } from "../field-error.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { Correlation } from "./correlation.ts";
import { applyDefaults } from "./defaults.ts";
import { type Coerced, coerceMetadata, validateEmbedded } from "./embedded-metadata.ts";
import { validateListTypes } from "./list-types.ts";
import { dropNulls } from "./nulls.ts";
import { type OpenApiSchema, readOpenApiSchema } from "./open-api-schema.ts";
import { prune } from "./prune.ts";
import { featuresOf, type SchemaFeatures } from "./schema-features.ts";
import { type ValueValidator, valueValidator } from "./value-validator.ts";

/**
 * The schema of one version of a custom kind, and the checks and changes that follow from it. Each part is prepared on
 * first use, so an unused kind costs only its JSON.
 */
export class StructuralSchema {
  /** The schema until it is read, texts included. */
  #json: JsonObject | undefined;
  #schema: OpenApiSchema | undefined;
  #validator: ValueValidator | undefined;
  #statusValidator: ValueValidator | undefined;
  #features: SchemaFeatures | undefined;

  /** @param json the `openAPIV3Schema`; without one, nothing is declared */
  constructor(json: JsonObject | undefined) {
    this.#json = json;
  }

  /** The schema without descriptions. */
  get schema(): OpenApiSchema {
    this.#schema ??= this.#read();
    return this.#schema;
  }

  /** Reads the schema now. Otherwise its first use does, and a large one takes milliseconds. Yields between the parts. */
  *prepare(): Generator<void, void> {
    if (this.#features !== undefined) return;
    this.#schema ??= this.#read();
    yield;
    this.#features ??= featuresOf(this.#schema);
  }

  get #uses(): SchemaFeatures {
    this.#features ??= featuresOf(this.schema);
    return this.#features;
  }

  #read(): OpenApiSchema {
    const schema = readOpenApiSchema(this.#json, { dropsTexts: true }) ?? {};
    this.#json = undefined;
    return schema;
  }

  /**
   * Removes undeclared fields, in place; apiVersion, kind and metadata stay.
   * @returns their paths, sorted
   */
  prune(object: JsonObject): string[] {
    return prune(object, this.schema, true);
  }

  /** Removes, in place, nulls that are not allowed and that no default replaces. */
  dropNulls(object: JsonObject): void {
    dropNulls(object, this.schema);
  }

  /** Brings the metadata of embedded resources into its typed form, in place. */
  coerceEmbedded(object: JsonObject, options: { readonly dropsInvalid?: boolean } = {}): Coerced {
    if (!this.#uses.embedded) return { error: undefined, unknownFields: [] };
    return coerceMetadata(object, this.schema, options);
  }

  /** Fills in defaults, in place. */
  applyDefaults(object: JsonObject): void {
    if (this.#uses.defaults) applyDefaults(object, this.schema);
  }

  /**
   * Checks the values of an object. This check and the following yield now and then if the object is large.
   * @param old the stored object of an update; errors of unchanged values are left out
   */
  validate(object: JsonObject, old?: JsonObject): Generator<void, FieldError[]> {
    this.#validator ??= valueValidator(this.schema);
    if (old === undefined) return this.#validator.validate(object);
    return this.#validator.validate(object, { correlation: new Correlation(object, old, this.schema) });
  }

  /** Checks the values of a status alone; everything passes without a schema of the status. */
  *validateStatus(status: JsonValue, old: JsonValue | undefined): Generator<void, FieldError[]> {
    const schema = this.schema.properties?.["status"];
    if (schema === undefined) return [];
    this.#statusValidator ??= valueValidator(schema);
    const base = { base: "status" };
    if (old === undefined) return yield* this.#statusValidator.validate(status, base);
    const correlation = new Correlation(status, old, schema);
    return yield* this.#statusValidator.validate(status, { ...base, correlation });
  }

  /** Checks the types and the metadata of embedded resources. */
  *validateEmbedded(object: JsonObject): Generator<void, FieldError[]> {
    return this.#uses.embedded ? yield* validateEmbedded(object, this.schema) : [];
  }

  /** Checks that sets contain no value twice, and keyed lists no key. An update may keep existing duplicates. */
  *validateListTypes(object: JsonObject, old?: JsonObject): Generator<void, FieldError[]> {
    if (!this.#uses.uniqueLists) return [];
    const errors = yield* validateListTypes(object, this.schema);
    if (errors.length === 0 || old === undefined) return errors;
    return (yield* validateListTypes(old, this.schema)).length === 0 ? errors : [];
  }
}
