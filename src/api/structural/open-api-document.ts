import { equalJson, type JsonObject, type JsonValue } from "../json.ts";
import { type OpenApiSchema, type SchemaMap, valuesOf } from "./open-api-schema.ts";

/** Swagger 2.0 or OpenAPI 3.0. */
export type OpenApiVersion = "v2" | "v3";

const intOrString: readonly OpenApiSchema[] = [{ type: "integer" }, { type: "string" }];

/**
 * Returns a structural schema in its published form. Swagger omits alternatives, nulls and defaults. kubectl rejects
 * fields it does not find there, so parts that Swagger cannot express are published as unconstrained.
 */
export function publishedSchema(schema: OpenApiSchema, version: OpenApiVersion): OpenApiSchema {
  const unfolded = unfold(schema);
  return version === "v2" ? withoutUnsupported(unfolded) : unfolded;
}

/** Spells out the types of every int-or-string. */
function unfold(schema: OpenApiSchema): OpenApiSchema {
  const node = mapChildren(schema, unfold);
  if (schema["x-kubernetes-int-or-string"] !== true) return node;
  const { anyOf, allOf = [] } = schema;
  const isSpelled = (parts: readonly OpenApiSchema[] | undefined) =>
    equalJson(parts as JsonValue | undefined, intOrString as unknown as JsonValue);
  if (isSpelled(anyOf) || isSpelled(allOf[0]?.anyOf)) return node;
  if (anyOf === undefined) return { ...node, anyOf: intOrString };
  return { ...node, allOf: [{ anyOf: intOrString }, ...allOf] };
}

function withoutUnsupported(schema: OpenApiSchema): OpenApiSchema {
  const { allOf: _all, anyOf: _any, oneOf: _one, not: _not, default: _default, ...rest } = schema;
  let node: OpenApiSchema = rest;
  if (node.nullable === true) node = without(node, "type", "nullable", "items", "properties");
  const keepsUnknown = node["x-kubernetes-preserve-unknown-fields"] === true;
  if (keepsUnknown) node = without(node, "items", "properties");
  if (node.items === undefined && node.type === "array") node = without(node, "type");
  if (keepsUnknown && node.type === "object") node = without(node, "type");
  const nullable = Object.entries(node.properties ?? {})
    .filter(([, property]) => property.nullable === true)
    .map(([name]) => name);
  if (node.required !== undefined && (nullable.length > 0 || valuesOf(node)?.nullable === true)) {
    const required = valuesOf(node)?.nullable === true ? [] : node.required.filter((name) => !nullable.includes(name));
    node = required.length === 0 ? without(node, "required") : { ...node, required };
  }
  return mapChildren(node, withoutUnsupported);
}

function without(schema: OpenApiSchema, ...names: readonly (keyof OpenApiSchema)[]): OpenApiSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.some((other) => other === name)));
}

/** Changes the schemas of nested values, but not those in `anyOf`, `allOf`, `oneOf` and `not`. */
function mapChildren(schema: OpenApiSchema, change: (child: OpenApiSchema) => OpenApiSchema): OpenApiSchema {
  const { items, properties, additionalProperties } = schema;
  return {
    ...schema,
    ...(items === undefined ? {} : { items: change(items) }),
    ...(properties === undefined ? {} : { properties: mapSchemas(properties, change) }),
    ...(typeof additionalProperties === "object" ? { additionalProperties: change(additionalProperties) } : {}),
  };
}

function mapSchemas(schemas: SchemaMap, change: (child: OpenApiSchema) => OpenApiSchema): SchemaMap {
  const changed = Object.create(null) as Record<string, OpenApiSchema>;
  for (const [name, schema] of Object.entries(schemas)) changed[name] = change(schema);
  return changed;
}

/** Writes a published schema, and adds the implied properties of embedded resources. */
export function schemaDocument(schema: OpenApiSchema, version: OpenApiVersion, embedded: JsonObject): JsonObject {
  const { items, itemSchemas: _items, properties, additionalProperties, ...plain } = schema;
  const document = { ...(plain as unknown as JsonObject) };
  const below = (child: OpenApiSchema) => schemaDocument(child, version, embedded);
  if (items !== undefined) document["items"] = below(items);
  if (typeof additionalProperties === "boolean") document["additionalProperties"] = additionalProperties;
  else if (additionalProperties !== undefined) document["additionalProperties"] = below(additionalProperties);
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isResource = schema["x-kubernetes-embedded-resource"] === true && !(version === "v2" && keepsUnknown);
  const fields: JsonObject = Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, property]) => [name, below(property)]),
  );
  if (isResource) {
    Object.assign(fields, embedded);
    document["required"] = [...new Set([...(schema.required ?? []), "kind", "apiVersion"])];
  }
  if (Object.keys(fields).length > 0) document["properties"] = fields;
  return document;
}
