import { metaSchema } from "../codec/meta-schema.ts";
import { type FieldError, fieldError } from "../field-error.ts";
import { parseApiVersion } from "../gvk.ts";
import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { ObjectMeta } from "../object-meta.ts";
import { decodeTyped } from "../schema/decode.ts";
import { DecodeTypeError } from "../schema/decode-error.ts";
import { fieldErrorsMax } from "../validation/labels.ts";
import { dnsLabel1035Problems, pathSegmentProblems } from "../validation/names.ts";
import { validateObjectMeta } from "../validation/object-meta.ts";
import { invalidValue } from "./findings.ts";
import { type OpenApiSchema, valuesOf } from "./open-api-schema.ts";
import { isEmbedded } from "./prune.ts";

/** Stands in for the name of an embedded object, which may be missing. */
const anyName = "fakename";
/** Resources that are checked before others get their turn. */
const resourcesPerStep = 100;

export interface CoerceOptions {
  /** True if the object itself is a resource, even if its schema does not say so. */
  readonly isResource?: boolean;
  /** Path of the value; empty for an object itself. */
  readonly base?: string;
  /** Removes fields of the wrong type where it can, instead of refusing them. */
  readonly dropsInvalid?: boolean;
}

export interface Coerced {
  /** The first field of a wrong type; checking stops there. */
  readonly error: FieldError | undefined;
  /** Paths of unknown metadata fields, which were removed. */
  readonly unknownFields: readonly string[];
}

/** Brings the metadata of embedded resources into its typed form, in place, and checks their types. */
export function coerceMetadata(value: JsonValue, schema: OpenApiSchema, options: CoerceOptions = {}): Coerced {
  const unknownFields: string[] = [];
  const { isResource = false, base = "", dropsInvalid = false } = options;
  const error = coerce(value, schema, base, {
    isResource: isResource || isEmbedded(schema),
    dropsInvalid,
    unknownFields,
  });
  return { error, unknownFields: unknownFields.sort() };
}

interface CoerceRun {
  readonly isResource: boolean;
  readonly dropsInvalid: boolean;
  readonly unknownFields: string[];
}

function coerce(value: JsonValue, schema: OpenApiSchema, path: string, run: CoerceRun): FieldError | undefined {
  const below = (part: JsonValue, child: OpenApiSchema | undefined, at: string) =>
    child === undefined ? undefined : coerce(part, child, at, { ...run, isResource: isEmbedded(child) });
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const error = below(item, schema.items, `${path}[${at}]`);
      if (error !== undefined) return error;
    }
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  for (const name of Object.keys(value)) {
    const error = run.isResource ? coerceField(value, name, path, run) : undefined;
    if (error !== undefined) return error;
    if (value[name] === undefined) continue;
    const property = schema.properties?.[name];
    const at = property === undefined ? `${path}[${name}]` : childPath(path, name);
    const errorBelow = below(value[name], property ?? valuesOf(schema), at);
    if (errorBelow !== undefined) return errorBelow;
  }
  return undefined;
}

function childPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function coerceField(object: JsonObject, name: string, path: string, run: CoerceRun): FieldError | undefined {
  const value = object[name] as JsonValue;
  if (name === "apiVersion" || name === "kind") {
    if (typeof value === "string") return undefined;
    if (!run.dropsInvalid) return invalidValue(childPath(path, name), value, "must be a string");
    delete object[name];
    return undefined;
  }
  if (name !== "metadata") return undefined;
  const decoded = decodeMetadata(value);
  if (typeof decoded !== "string") {
    for (const unknown of decoded.unknownFields) run.unknownFields.push(`${childPath(path, name)}.${unknown}`);
    object[name] = withoutZeroTime(decoded.metadata);
    return undefined;
  }
  if (!run.dropsInvalid) return invalidValue(childPath(path, name), value, decoded);
  if (isJsonObject(value)) object[name] = validPart(value);
  return undefined;
}

interface DecodedMetadata {
  readonly metadata: JsonObject;
  readonly unknownFields: readonly string[];
}

/** Decodes metadata; returns a message if it is malformed. */
function decodeMetadata(value: JsonValue): DecodedMetadata | string {
  try {
    const { object, unknownFields } = decodeTyped(metaSchema("meta/v1.ObjectMeta"), value, { kind: "ObjectMeta" });
    return { metadata: object, unknownFields };
  } catch (error) {
    if (error instanceof DecodeTypeError) return error.message;
    throw error;
  }
}

/** Keeps the fields that are valid by themselves. */
function validPart(metadata: JsonObject): JsonObject {
  const valid = emptyJsonObject();
  for (const name of Object.keys(metadata)) {
    if (typeof decodeMetadata({ [name]: metadata[name] as JsonValue }) !== "string") {
      valid[name] = metadata[name] as JsonValue;
    }
  }
  const decoded = decodeMetadata(valid);
  return typeof decoded === "string" ? {} : withoutZeroTime(decoded.metadata);
}

function withoutZeroTime(metadata: JsonObject): JsonObject {
  if (metadata["creationTimestamp"] === null) delete metadata["creationTimestamp"];
  return metadata;
}

/** Checks the type and the metadata of embedded resources. Yields now and then if there are many. */
export function* validateEmbedded(
  value: JsonValue,
  schema: OpenApiSchema,
  { isResource = false, base = "" }: Pick<CoerceOptions, "isResource" | "base"> = {},
): Generator<void, FieldError[]> {
  const errors: FieldError[] = [];
  const resources: Resource[] = [];
  collectResources(value, schema, base, isResource || isEmbedded(schema), resources);
  for (const [at, { object, path }] of resources.entries()) {
    if ((at + 1) % resourcesPerStep === 0) yield;
    if (errors.length >= fieldErrorsMax) break;
    errors.push(...validateResource(object, path));
  }
  return errors;
}

interface Resource {
  readonly object: JsonObject;
  readonly path: string;
}

function collectResources(
  value: JsonValue,
  schema: OpenApiSchema,
  path: string,
  isResource: boolean,
  found: Resource[],
): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    for (const [at, item] of value.entries()) collectResources(item, items, `${path}[${at}]`, isEmbedded(items), found);
    return;
  }
  if (isResource) found.push({ object: value, path });
  const values = valuesOf(schema);
  for (const name of Object.keys(value)) {
    const property = schema.properties?.[name];
    const child = property ?? values;
    if (child === undefined) continue;
    const at = property === undefined ? `${path}[${name}]` : childPath(path, name);
    collectResources(value[name] as JsonValue, child, at, isEmbedded(child), found);
  }
}

function validateResource(object: JsonObject, path: string): FieldError[] {
  const { apiVersion, kind, metadata } = object;
  return [
    ...(apiVersion === undefined ? [fieldError.required(childPath(path, "apiVersion"))] : []),
    ...(kind === undefined ? [fieldError.required(childPath(path, "kind"))] : []),
    ...(apiVersion === undefined ? [] : validateApiVersion(apiVersion, childPath(path, "apiVersion"))),
    ...(kind === undefined ? [] : validateKind(kind, childPath(path, "kind"))),
    ...(metadata === undefined ? [] : validateMetadata(metadata, childPath(path, "metadata"))),
  ];
}

function validateApiVersion(value: JsonValue, field: string): FieldError[] {
  if (typeof value !== "string") return [invalidValue(field, value, "must be a string")];
  if (value === "") return [fieldError.invalid(field, value, "must not be empty")];
  if (parseApiVersion(value) !== undefined) return [];
  return [fieldError.invalid(field, value, `unexpected GroupVersion string: ${value}`)];
}

function validateKind(value: JsonValue, field: string): FieldError[] {
  if (typeof value !== "string") return [invalidValue(field, value, "must be a string")];
  if (value === "") return [fieldError.invalid(field, value, "must not be empty")];
  const problems = dnsLabel1035Problems(value.toLowerCase());
  if (problems.length === 0) return [];
  const text = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
  return [fieldError.invalid(field, value, text)];
}

function validateMetadata(value: JsonValue, path: string): FieldError[] {
  const decoded = decodeMetadata(value);
  if (typeof decoded === "string") return [invalidValue(path, value, decoded)];
  const metadata = decoded.metadata as unknown as ObjectMeta;
  const named = (metadata.name ?? "") === "" ? { ...metadata, name: anyName } : metadata;
  const namespaced = (metadata.namespace ?? "") !== "";
  return validateObjectMeta(named, { namespaced, validateName: pathSegmentProblems, path });
}
