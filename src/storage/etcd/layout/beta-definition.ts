import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { Field, Schema, StructSchema } from "../../../api/schema/schema.ts";
import { structOf } from "../../../api/scheme/object-form.ts";
import type { Conversion, ResourceInfo } from "../../../api/scheme/resource.ts";
import type { StoredVersion } from "./stored-version.ts";

/** Fields of a version that v1beta1 has once for all versions if they are equal, and their names there. */
const sharedFields: readonly (readonly [name: string, shared: string])[] = [
  ["schema", "validation"],
  ["subresources", "subresources"],
  ["additionalPrinterColumns", "additionalPrinterColumns"],
  ["selectableFields", "selectableFields"],
];

const known = new WeakMap<ResourceInfo, StoredVersion>();

/** Returns the version v1beta1 of CustomResourceDefinitions, in which kube-apiserver stores them. It is not served. */
export function betaDefinition(info: ResourceInfo): StoredVersion {
  let version = known.get(info);
  if (version === undefined) {
    const { group, kind } = info;
    version = { group, version: "v1beta1", kind, schema: betaSchema(structOf(info)), conversion };
    known.set(info, version);
  }
  return version;
}

const conversion: Conversion = {
  toStorage: (object) => withSpec(object, specFromBeta),
  fromStorage: (object) => withSpec(object, specToBeta),
};

function withSpec(object: JsonObject, convert: (spec: JsonObject) => JsonObject): JsonObject {
  const { spec, ...others } = object;
  if (!isJsonObject(spec)) return object;
  const { metadata, ...rest } = others;
  return { ...(metadata === undefined ? {} : { metadata }), spec: convert(spec), ...rest };
}

function specToBeta(spec: JsonObject): JsonObject {
  const { group, names, scope, versions, conversion, preserveUnknownFields } = spec;
  const list = objectsIn(versions);
  const [first] = list;
  const shared: JsonObject = {};
  for (const [name, sharedName] of sharedFields) {
    const value = first?.[name];
    if (value !== undefined && list.every((version) => equalJson(version[name], value))) {
      shared[sharedName] = name === "additionalPrinterColumns" ? columns(value, "jsonPath", "JSONPath") : value;
    }
  }
  const own = list.map((version) => {
    const kept: JsonObject = {};
    for (const [name, value] of Object.entries(version)) {
      const sharedName = sharedFields.find(([field]) => field === name)?.[1];
      if (sharedName !== undefined && shared[sharedName] !== undefined) continue;
      kept[name] = name === "additionalPrinterColumns" ? columns(value, "jsonPath", "JSONPath") : value;
    }
    return kept;
  });
  const { validation, subresources, additionalPrinterColumns, selectableFields } = shared;
  return defined({
    group,
    version: first?.["name"],
    names,
    scope,
    validation,
    subresources,
    versions: own,
    additionalPrinterColumns,
    selectableFields,
    conversion: isJsonObject(conversion) ? conversionToBeta(conversion) : undefined,
    preserveUnknownFields: preserveUnknownFields === true,
  });
}

function specFromBeta(spec: JsonObject): JsonObject {
  const { group, version, names, scope, versions, conversion, preserveUnknownFields } = spec;
  const given = objectsIn(versions);
  const own = given.length > 0 ? given : [{ name: version ?? "", served: true, storage: true }];
  const list = own.map((each) => {
    const complete: JsonObject = { ...each };
    for (const [name, sharedName] of sharedFields) {
      const value = spec[sharedName] ?? each[name];
      if (value === undefined) continue;
      complete[name] = name === "additionalPrinterColumns" ? columns(value, "JSONPath", "jsonPath") : value;
    }
    return complete;
  });
  return defined({
    group,
    names,
    scope,
    versions: list,
    conversion: isJsonObject(conversion) ? conversionFromBeta(conversion) : undefined,
    // Before v1, unknown fields were kept unless the definition said otherwise.
    preserveUnknownFields: preserveUnknownFields === false ? undefined : true,
  });
}

function conversionToBeta({ strategy, webhook }: JsonObject): JsonObject {
  const { clientConfig, conversionReviewVersions } = isJsonObject(webhook) ? webhook : {};
  return defined({ strategy, webhookClientConfig: clientConfig, conversionReviewVersions });
}

function conversionFromBeta({ strategy, webhookClientConfig, conversionReviewVersions }: JsonObject): JsonObject {
  if (webhookClientConfig === undefined && conversionReviewVersions === undefined) return defined({ strategy });
  const versions = conversionReviewVersions ?? null;
  const webhook = defined({ clientConfig: webhookClientConfig, conversionReviewVersions: versions });
  return defined({ strategy, webhook });
}

/** Renames the path of each column, which is its last field. */
function columns(list: JsonValue, from: string, to: string): JsonValue {
  return objectsIn(list).map(({ [from]: path, ...column }) => defined({ ...column, [to]: path }));
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Drops members that are undefined. */
function defined(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const object: JsonObject = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) object[name] = value;
  return object;
}

/** Derives the schema of v1beta1, which has the same parts in other places. It is used for JSON only. */
function betaSchema(definition: StructSchema): StructSchema {
  const spec = structIn(fieldOf(definition, "spec").schema);
  const version = structIn(itemsOf(fieldOf(spec, "versions").schema));
  const columnsField = fieldOf(version, "additionalPrinterColumns");
  const column = structIn(itemsOf(columnsField.schema));
  const conversionStruct = structIn(fieldOf(spec, "conversion").schema);
  const webhook = structIn(fieldOf(conversionStruct, "webhook").schema);
  const text: Field = { ...fieldOf(spec, "group"), required: false, omitEmpty: true };

  const betaColumn = changed(column, { jsonPath: { ...fieldOf(column, "jsonPath"), name: "JSONPath" } });
  const betaColumns: Field = { ...columnsField, schema: { kind: "list", items: betaColumn } };
  const betaVersion = changed(version, { additionalPrinterColumns: betaColumns });
  const betaConversion = structWith(conversionStruct, [
    fieldOf(conversionStruct, "strategy"),
    { ...fieldOf(webhook, "clientConfig"), name: "webhookClientConfig" },
    { ...fieldOf(webhook, "conversionReviewVersions"), omitEmpty: true },
  ]);
  const betaSpec = structWith(spec, [
    fieldOf(spec, "group"),
    { ...text, name: "version" },
    fieldOf(spec, "names"),
    fieldOf(spec, "scope"),
    { ...fieldOf(version, "schema"), name: "validation" },
    fieldOf(version, "subresources"),
    { ...fieldOf(spec, "versions"), schema: { kind: "list", items: betaVersion }, omitEmpty: true },
    betaColumns,
    fieldOf(version, "selectableFields"),
    { ...fieldOf(spec, "conversion"), schema: betaConversion },
    { ...fieldOf(spec, "preserveUnknownFields"), pointer: true },
  ]);
  return changed(definition, { spec: { ...fieldOf(definition, "spec"), schema: betaSpec } });
}

function structWith(struct: StructSchema, fields: readonly Field[]): StructSchema {
  const { kind, atomic, preserveUnknown, protoInline } = struct;
  const name = struct.name.replace("/v1.", "/v1beta1.");
  return {
    kind,
    name,
    atomic,
    preserveUnknown,
    protoInline,
    ...(struct.typeMeta === undefined ? {} : { typeMeta: struct.typeMeta }),
    fields: new Map(fields.map((field) => [field.name, field])),
  };
}

/** Returns a struct in which some fields are replaced. */
function changed(struct: StructSchema, replaced: Readonly<Record<string, Field>>): StructSchema {
  return structWith(
    struct,
    [...struct.fields.values()].map((field) => replaced[field.name] ?? field),
  );
}

function fieldOf(struct: StructSchema, name: string): Field {
  const field = struct.fields.get(name);
  if (field === undefined) throw new Error(`${struct.name} has no field ${name}`);
  return field;
}

function structIn(schema: Schema): StructSchema {
  if (schema.kind === "struct") return schema;
  throw new Error(`a struct is expected, not a ${schema.kind}`);
}

function itemsOf(schema: Schema): Schema {
  if (schema.kind === "list") return schema.items;
  throw new Error(`a list is expected, not a ${schema.kind}`);
}
