import type { GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import { publishedSchema, schemaDocument } from "../../api/structural/open-api-document.ts";
import { readOpenApiSchema } from "../../api/structural/open-api-schema.ts";
import type { Dialect } from "./document-type.ts";

/** One version of a custom kind, in the form that documents need. */
export interface CustomType extends GroupVersionKind {
  readonly listKind: string;
  readonly plural: string;
  /** JSON paths, such as `.spec.color`. */
  readonly selectableFields: readonly string[];
}

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/** Returns the name of the definition of a kind: `com.example.v1.Widget`. */
export function customDefinitionName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split(".").reverse(), version, kind].join(".");
}

/**
 * Returns the definition of the objects of a custom kind. It refers to ObjectMeta. Yields between passes over the schema.
 * @param readSchema returns the `openAPIV3Schema`
 */
export function* customDefinition(
  type: CustomType,
  readSchema: () => JsonObject,
  dialect: Dialect,
): Generator<void, JsonObject> {
  return { ...(yield* kindDocument(readSchema, dialect)), ...extensions(type, type.kind) };
}

/** Returns the definition of their lists. It refers to ListMeta and to the definition of the objects. */
export function customListDefinition(type: CustomType, dialect: Dialect): JsonObject {
  return { ...listDocument(type, dialect), ...extensions(type, type.listKind) };
}

function* kindDocument(readSchema: () => JsonObject, dialect: Dialect): Generator<void, JsonObject> {
  const json = readSchema();
  yield;
  const schema = readOpenApiSchema(json);
  yield;
  const isOpen = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema === undefined || (dialect === "v2" && isOpen)) return { type: "object" };
  const metadata = metaReference("ObjectMeta", "Standard object's metadata.", dialect);
  const embedded = {
    apiVersion: {
      description: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
      type: "string",
    },
    kind: {
      description: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
      type: "string",
    },
    metadata,
  };
  const published = publishedSchema(schema, dialect);
  yield;
  const document = schemaDocument(published, dialect, embedded);
  const properties = document["properties"] as JsonObject | undefined;
  return { ...document, properties: { ...properties, ...typeMeta(), metadata } };
}

function listDocument({ kind, listKind, plural, ...type }: CustomType, dialect: Dialect): JsonObject {
  return {
    description: `${listKind} is a list of ${kind}`,
    type: "object",
    required: ["items"],
    properties: {
      ...typeMeta(),
      items: {
        description: `List of ${plural}. More info: ${conventions}`,
        type: "array",
        items: reference(customDefinitionName({ ...type, kind }), dialect),
      },
      metadata: metaReference("ListMeta", "Standard list metadata.", dialect),
    },
  };
}

function typeMeta(): JsonObject {
  return {
    apiVersion: {
      description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
      type: "string",
    },
    kind: {
      description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
      type: "string",
    },
  };
}

function metaReference(name: string, text: string, dialect: Dialect): JsonObject {
  const description = `${text} More info: ${conventions}#${name === "ListMeta" ? "types-kinds" : "metadata"}`;
  const target = reference(`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`, dialect);
  return dialect === "v2" ? { description, ...target } : { description, allOf: [target] };
}

function reference(name: string, dialect: Dialect): JsonObject {
  return { $ref: `${dialect === "v2" ? "#/definitions/" : "#/components/schemas/"}${name}` };
}

function extensions({ group, version, selectableFields }: CustomType, kind: string): JsonObject {
  const fields = selectableFields.map((path) => ({ fieldPath: path.startsWith(".") ? path.slice(1) : path }));
  return {
    "x-kubernetes-group-version-kind": [{ group, version, kind }],
    ...(fields.length === 0 ? {} : { "x-kubernetes-selectable-fields": fields }),
  };
}
