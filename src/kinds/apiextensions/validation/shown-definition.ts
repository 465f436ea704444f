import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type { OpenApiSchema } from "../../../api/structural/open-api-schema.ts";
import type { CustomResourceSubresources } from "../../../api/types/apiextensions-v1.ts";
import { shownRule } from "../../../cel/index.ts";
import type { DefinitionSpec } from "./definition-spec.ts";

/** Returns the versions as upstream shows them: under the names of its code, with all fields. */
export function shownVersions({ spec, versions }: DefinitionSpec): JsonObject[] | null {
  if ((spec.versions ?? null) === null) return null;
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema:
      version.parts.schema === undefined
        ? null
        : { OpenAPIV3Schema: shownSchema(version.parts.schema.openAPIV3Schema) },
    Subresources: shownSubresources(version.parts.subresources),
    AdditionalPrinterColumns:
      version.parts.columns?.map(({ name, type, format, description, priority, jsonPath }) => ({
        Name: name,
        Type: type,
        Format: format ?? "",
        Description: description ?? "",
        Priority: priority ?? 0,
        JSONPath: jsonPath,
      })) ?? null,
    SelectableFields: version.parts.selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
  }));
}

function shownSubresources(subresources: CustomResourceSubresources | undefined): JsonValue {
  if (subresources === undefined) return null;
  const { status, scale } = subresources;
  return {
    Status: status === undefined ? null : {},
    Scale:
      scale === undefined
        ? null
        : {
            SpecReplicasPath: scale.specReplicasPath,
            StatusReplicasPath: scale.statusReplicasPath,
            LabelSelectorPath: scale.labelSelectorPath ?? null,
          },
  };
}

/** Maximum number of schema nodes to show. Each takes about a thousand characters. */
const shownNodesMax = 1_000;

/** Returns a schema as upstream shows it; null if it is absent or too large for an error. */
export function shownSchema(schema: OpenApiSchema | undefined): JsonValue {
  return new SchemaForm().node(schema);
}

class SchemaForm {
  #nodes = 0;

  node(schema: OpenApiSchema | undefined): JsonValue {
    if (schema === undefined || ++this.#nodes > shownNodesMax) return null;
    const one = (part: OpenApiSchema | undefined) => this.node(part);
    const unset = (field: keyof OpenApiSchema, empty: JsonValue) => (isGivenEmpty(schema, field) ? empty : null);
    const list = (field: "enum" | "required" | "x-kubernetes-list-map-keys"): JsonValue => {
      const values = schema[field];
      return values === undefined ? unset(field, []) : [...values];
    };
    const many = (field: "allOf" | "oneOf" | "anyOf"): JsonValue =>
      schema[field]?.map((part) => this.node(part)) ?? unset(field, []);
    const map = (field: "properties" | "patternProperties" | "definitions"): JsonValue => {
      const schemas = schema[field];
      return schemas === undefined
        ? unset(field, {})
        : Object.fromEntries(
            Object.keys(schemas)
              .sort()
              .map((name) => [name, this.node(schemas[name])]),
          );
    };
    const orFlag = (part: OpenApiSchema | boolean | undefined): JsonValue =>
      part === undefined ? null : { Allows: part !== false, Schema: typeof part === "boolean" ? null : one(part) };
    const { items, itemSchemas, externalDocs } = schema;
    return {
      ID: schema.id ?? "",
      Schema: schema.$schema ?? "",
      Ref: schema.$ref ?? null,
      Description: schema.description ?? "",
      Type: schema.type ?? "",
      Nullable: schema.nullable ?? false,
      Format: schema.format ?? "",
      Title: schema.title ?? "",
      Default: schema.default ?? null,
      Maximum: schema.maximum ?? null,
      ExclusiveMaximum: schema.exclusiveMaximum ?? false,
      Minimum: schema.minimum ?? null,
      ExclusiveMinimum: schema.exclusiveMinimum ?? false,
      MaxLength: schema.maxLength ?? null,
      MinLength: schema.minLength ?? null,
      Pattern: schema.pattern ?? "",
      MaxItems: schema.maxItems ?? null,
      MinItems: schema.minItems ?? null,
      UniqueItems: schema.uniqueItems ?? false,
      MultipleOf: schema.multipleOf ?? null,
      Enum: list("enum"),
      MaxProperties: schema.maxProperties ?? null,
      MinProperties: schema.minProperties ?? null,
      Required: list("required"),
      Items:
        items === undefined && itemSchemas === undefined
          ? null
          : { Schema: one(items), JSONSchemas: itemSchemas?.map(one) ?? null },
      AllOf: many("allOf"),
      OneOf: many("oneOf"),
      AnyOf: many("anyOf"),
      Not: one(schema.not),
      Properties: map("properties"),
      AdditionalProperties: orFlag(schema.additionalProperties),
      PatternProperties: map("patternProperties"),
      Dependencies: this.#dependencies(schema),
      AdditionalItems: orFlag(schema.additionalItems),
      Definitions: map("definitions"),
      ExternalDocs:
        externalDocs === undefined
          ? null
          : { Description: externalDocs["description"] ?? "", URL: externalDocs["url"] ?? "" },
      Example: schema.example ?? null,
      XPreserveUnknownFields: schema["x-kubernetes-preserve-unknown-fields"] ?? null,
      XEmbeddedResource: schema["x-kubernetes-embedded-resource"] ?? false,
      XIntOrString: schema["x-kubernetes-int-or-string"] ?? false,
      XListMapKeys: list("x-kubernetes-list-map-keys"),
      XListType: schema["x-kubernetes-list-type"] ?? null,
      XMapType: schema["x-kubernetes-map-type"] ?? null,
      XValidations: schema["x-kubernetes-validations"]?.map(shownRule) ?? unset("x-kubernetes-validations", []),
    };
  }

  #dependencies({ dependencies, dependencyNames = {} }: OpenApiSchema): JsonValue {
    if (dependencies === undefined) return null;
    const shown = Object.keys(dependencies)
      .sort()
      .map((name): [string, JsonValue] => {
        const names = dependencyNames[name];
        return [
          name,
          names === undefined
            ? { Schema: this.node(dependencies[name]), Property: null }
            : { Schema: null, Property: [...names] },
        ];
      });
    return Object.fromEntries(shown);
  }
}
