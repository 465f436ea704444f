import { load } from "js-yaml";
import protobuf from "protobufjs";
import type { JsonObject, JsonValue } from "../../api/json.ts";

/** Reads a document from one of its protobuf forms, using messages that are declared independently of the writer's. */
export function decodedDocument(version: "v2" | "v3", bytes: Uint8Array): JsonValue {
  const { root } = protobuf.parse(version === "v2" ? swagger : openApi, { keepCase: true });
  const type = root.lookupType("Document");
  return treeOf(type.toObject(type.decode(bytes), { longs: Number }), type);
}

/** Returns the document in the form that its protobuf message can express. */
export function sayable(value: JsonValue, version: "v2" | "v3", isMap = false): JsonValue {
  if (Array.isArray(value)) return value.map((item) => sayable(item, version));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).flatMap(([key, item]): [string, JsonValue][] => {
    if (isMap) return [[key, sayable(item, version)]];
    if (key.startsWith("x-") || key === "example" || key === "enum") return [[key, item]];
    // Defaults of OpenAPI 3.0 are scalars.
    if (key === "default" && version === "v3" && typeof item === "object") return [[key, null]];
    if (key === "default") return [[key, item]];
    if (item === false && key !== "additionalProperties") return [];
    return [[key, sayable(item, version, maps.has(key))]];
  });
  return Object.fromEntries(entries);
}

const maps: ReadonlySet<string> = new Set(["properties", "paths", "schemas", "definitions", "responses", "content"]);

function treeOf(message: Record<string, any>, type: protobuf.Type): JsonValue {
  if (type.name === "Any") return load(message["yaml"]) as JsonValue;
  if (type.name === "StringArray") return message["value"] ?? [];
  if (type.name === "TypeItem") return message["value"][0];
  if (type.name === "ItemsItem") return treeOf(Object.values(message)[0][0], onlyTypeOf(type));
  if (Object.keys(type.oneofs ?? {}).length > 0) {
    const [one] = Object.entries(message);
    return one === undefined ? null : fieldOf(type.fields[one[0]] as protobuf.Field, one[1]);
  }
  const tree: JsonObject = {};
  for (const [name, value] of Object.entries(message)) {
    const field = (type.fields[name] as protobuf.Field).resolve();
    if (field.resolvedType?.name.startsWith("Named") !== true) tree[keyOf(name)] = fieldOf(field, value);
    else for (const pair of value) tree[pair.name] = fieldOf(pairType(field), pair.value);
  }
  return tree;
}

function fieldOf(field: protobuf.Field, value: any): JsonValue {
  const { resolvedType: type } = field.resolve();
  if (!(type instanceof protobuf.Type)) return value;
  return Array.isArray(value) ? value.map((item) => treeOf(item, type)) : treeOf(value, type);
}

function onlyTypeOf(type: protobuf.Type): protobuf.Type {
  return (type.fieldsArray[0] as protobuf.Field).resolve().resolvedType as protobuf.Type;
}

function pairType(field: protobuf.Field): protobuf.Field {
  return (field.resolvedType as protobuf.Type).fields["value"] as protobuf.Field;
}

/** `operation_id` becomes `operationId`, and `_ref` `$ref`. */
function keyOf(name: string): string {
  return name === "_ref" ? "$ref" : name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const common = `syntax = "proto3";
  message Any { string yaml = 2; }
  message NamedAny { string name = 1; Any value = 2; }
  message StringArray { repeated string value = 1; }
`;

/** The part of gnostic's openapi.v2 that is read. */
const swagger = `${common}
  message Document { string swagger = 1; Info info = 2; Paths paths = 8; Schemas definitions = 9;
    Parameters parameters = 10; repeated Requirement security = 12; Securities security_definitions = 13; }
  message Info { string title = 1; string version = 2; }
  message Requirement { repeated NamedStringArray additional_properties = 1; }
  message NamedStringArray { string name = 1; StringArray value = 2; }
  message Securities { repeated NamedSecurity additional_properties = 1; }
  message NamedSecurity { string name = 1; Security value = 2; }
  message Security { oneof oneof { ApiKey api_key_security = 2; } }
  message ApiKey { string type = 1; string name = 2; string in = 3; string description = 4; }
  message Paths { repeated NamedPathItem path = 2; }
  message NamedPathItem { string name = 1; PathItem value = 2; }
  message PathItem { Operation get = 2; Operation put = 3; Operation post = 4; Operation delete = 5; Operation options = 6;
    Operation head = 7; Operation patch = 8; repeated ParametersItem parameters = 9; }
  message Operation { repeated string tags = 1; string description = 3; string operation_id = 5; repeated string produces = 6;
    repeated string consumes = 7; repeated ParametersItem parameters = 8; Responses responses = 9;
    repeated string schemes = 10; repeated NamedAny vendor_extension = 13; }
  message Parameters { repeated NamedParameter additional_properties = 1; }
  message NamedParameter { string name = 1; Parameter value = 2; }
  message ParametersItem { oneof oneof { Parameter parameter = 1; Reference json_reference = 2; } }
  message Reference { string _ref = 1; }
  message Parameter { oneof oneof { Body body_parameter = 1; NonBody non_body_parameter = 2; } }
  message Body { string description = 1; string name = 2; string in = 3; bool required = 4; Schema schema = 5; }
  message NonBody { oneof oneof { Query query_parameter_sub_schema = 3; Path path_parameter_sub_schema = 4; } }
  message Query { bool required = 1; string in = 2; string description = 3; string name = 4; string type = 6;
    bool unique_items = 20; }
  message Path { bool required = 1; string in = 2; string description = 3; string name = 4; string type = 5;
    bool unique_items = 19; }
  message Responses { repeated NamedResponse response_code = 1; }
  message NamedResponse { string name = 1; ResponseValue value = 2; }
  message ResponseValue { oneof oneof { Response response = 1; Reference json_reference = 2; } }
  message Response { string description = 1; SchemaItem schema = 2; }
  message SchemaItem { oneof oneof { Schema schema = 1; } }
  message Schemas { repeated NamedSchema additional_properties = 1; }
  message NamedSchema { string name = 1; Schema value = 2; }
  message AdditionalItem { oneof oneof { Schema schema = 1; bool boolean = 2; } }
  message TypeItem { repeated string value = 1; }
  message ItemsItem { repeated Schema schema = 1; }
  message ExternalDocs { string description = 1; string url = 2; }
  message Schema { string _ref = 1; string format = 2; string title = 3; string description = 4; Any default = 5;
    double multiple_of = 6; double maximum = 7; bool exclusive_maximum = 8; double minimum = 9; bool exclusive_minimum = 10;
    int64 max_length = 11; int64 min_length = 12; string pattern = 13; int64 max_items = 14; int64 min_items = 15;
    bool unique_items = 16; int64 max_properties = 17; int64 min_properties = 18; repeated string required = 19;
    repeated Any enum = 20; AdditionalItem additional_properties = 21; TypeItem type = 22; ItemsItem items = 23;
    repeated Schema all_of = 24; Schemas properties = 25; ExternalDocs external_docs = 29; Any example = 30;
    repeated NamedAny vendor_extension = 31; }`;

/** The part of gnostic's openapi.v3 that is read. */
const openApi = `${common}
  message Document { string openapi = 1; Info info = 2; Paths paths = 4; Components components = 5; }
  message Info { string title = 1; string version = 6; }
  message Components { Schemas schemas = 1; Securities security_schemes = 7; }
  message Securities { repeated NamedSecurity additional_properties = 1; }
  message NamedSecurity { string name = 1; SecurityOrReference value = 2; }
  message SecurityOrReference { oneof oneof { Security security_scheme = 1; Reference reference = 2; } }
  message Security { string type = 1; string description = 2; string name = 3; string in = 4; }
  message Reference { string _ref = 1; }
  message Paths { repeated NamedPathItem path = 1; }
  message NamedPathItem { string name = 1; PathItem value = 2; }
  message PathItem { Operation get = 4; Operation put = 5; Operation post = 6; Operation delete = 7; Operation options = 8;
    Operation head = 9; Operation patch = 10; repeated ParameterOrReference parameters = 13; }
  message Operation { repeated string tags = 1; string description = 3; string operation_id = 5;
    repeated ParameterOrReference parameters = 6; BodyOrReference request_body = 7; Responses responses = 8;
    repeated NamedAny specification_extension = 13; }
  message ParameterOrReference { oneof oneof { Parameter parameter = 1; Reference reference = 2; } }
  message Parameter { string name = 1; string in = 2; string description = 3; bool required = 4;
    SchemaOrReference schema = 10; }
  message BodyOrReference { oneof oneof { Body request_body = 1; Reference reference = 2; } }
  message Body { string description = 1; MediaTypes content = 2; bool required = 3; }
  message MediaTypes { repeated NamedMediaType additional_properties = 1; }
  message NamedMediaType { string name = 1; MediaType value = 2; }
  message MediaType { SchemaOrReference schema = 1; }
  message Responses { repeated NamedResponse response_or_reference = 2; }
  message NamedResponse { string name = 1; ResponseOrReference value = 2; }
  message ResponseOrReference { oneof oneof { Response response = 1; Reference reference = 2; } }
  message Response { string description = 1; MediaTypes content = 3; }
  message Schemas { repeated NamedSchema additional_properties = 1; }
  message NamedSchema { string name = 1; SchemaOrReference value = 2; }
  message SchemaOrReference { oneof oneof { Schema schema = 1; Reference reference = 2; } }
  message ItemsItem { repeated SchemaOrReference schema_or_reference = 1; }
  message AdditionalItem { oneof oneof { SchemaOrReference schema_or_reference = 1; bool boolean = 2; } }
  message DefaultType { oneof oneof { double number = 1; bool boolean = 2; string string = 3; } }
  message ExternalDocs { string description = 1; string url = 2; }
  message Schema { bool nullable = 1; ExternalDocs external_docs = 6; Any example = 7; string title = 9;
    double multiple_of = 10; double maximum = 11; bool exclusive_maximum = 12; double minimum = 13;
    bool exclusive_minimum = 14; int64 max_length = 15; int64 min_length = 16; string pattern = 17; int64 max_items = 18;
    int64 min_items = 19; bool unique_items = 20; int64 max_properties = 21; int64 min_properties = 22;
    repeated string required = 23; repeated Any enum = 24; string type = 25; repeated SchemaOrReference all_of = 26;
    repeated SchemaOrReference one_of = 27; repeated SchemaOrReference any_of = 28; Schema not = 29; ItemsItem items = 30;
    Schemas properties = 31; AdditionalItem additional_properties = 32; DefaultType default = 33; string description = 34;
    string format = 35; repeated NamedAny specification_extension = 36; }`;
