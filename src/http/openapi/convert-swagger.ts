import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf, objectsOf, textOf, textsOf } from "../../api/json-reading.ts";
import type { DocumentPart } from "./document-part.ts";
import { definitionPrefix, parameterPrefix, type SwaggerPart } from "./swagger-part.ts";

const schemaPrefix = "#/components/schemas/";

/** Returns an OpenAPI 3.0 document with the content of a Swagger document, for servers that have no other. */
export function* convertedSwagger(info: JsonObject, part: SwaggerPart): Generator<DocumentPart> {
  yield { path: ["openapi"], value: "3.0.0" };
  yield { path: ["info"], value: info };
  for (const [path, item] of part.paths) yield { path: ["paths", path], value: convertPathItem(item, part) };
  for (const [name, schema] of part.definitions) {
    yield { path: ["components", "schemas", name], value: convertSchema(schema) };
  }
}

const withParts: ReadonlySet<string> = new Set(["parameters", "responses", "consumes", "produces", "schemes"]);

function convertPathItem(item: JsonObject, part: SwaggerPart): JsonObject {
  const converted = emptyJsonObject();
  for (const [key, value] of Object.entries(item)) {
    if (key.startsWith("x-")) converted[key] = value;
    else if (key !== "parameters") converted[key] = convertOperation(objectOf(value), part);
  }
  const parameters = parametersOf(item["parameters"], part).filter((one) => one["in"] !== "body");
  if (parameters.length > 0) converted["parameters"] = parameters.map(convertParameter);
  return converted;
}

function convertOperation(operation: JsonObject, part: SwaggerPart): JsonObject {
  const parameters = parametersOf(operation["parameters"], part);
  const body = parameters.find((one) => one["in"] === "body");
  const others = parameters.filter((one) => one["in"] !== "body").map(convertParameter);
  const kept = Object.entries(operation).filter(([key]) => !withParts.has(key));
  return {
    ...Object.fromEntries(kept),
    ...(others.length === 0 ? {} : { parameters: others }),
    ...(body === undefined ? {} : { requestBody: convertBody(body, textsOf(operation["consumes"])) }),
    responses: convertResponses(objectOf(operation["responses"]), textsOf(operation["produces"])),
  };
}

/** Writes out shared parameters in each place. */
function parametersOf(value: JsonValue | undefined, part: SwaggerPart): JsonObject[] {
  return objectsOf(value).flatMap((one) => {
    const reference = textOf(one["$ref"]);
    if (reference === "") return [one];
    const shared = part.parameters.get(reference.slice(parameterPrefix.length));
    return shared === undefined ? [] : [shared];
  });
}

function convertParameter({ type, uniqueItems, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    schema: { ...(type === undefined ? {} : { type }), ...(uniqueItems === undefined ? {} : { uniqueItems }) },
  };
}

function convertBody(
  { description, required, schema }: Partial<JsonObject>,
  mediaTypes: readonly string[],
): JsonObject {
  return {
    ...(description === undefined ? {} : { description }),
    content: contentOf(objectOf(schema), mediaTypes),
    ...(required === undefined ? {} : { required }),
  };
}

function convertResponses(responses: JsonObject, mediaTypes: readonly string[]): JsonObject {
  const converted = emptyJsonObject();
  for (const [code, value] of Object.entries(responses)) {
    const { schema, ...rest } = objectOf(value) as Partial<JsonObject>;
    converted[code] = {
      ...(rest as JsonObject),
      ...(isJsonObject(schema) ? { content: contentOf(schema, mediaTypes) } : {}),
    };
  }
  return converted;
}

function contentOf(schema: JsonObject, mediaTypes: readonly string[]): JsonObject {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema: convertSchema(schema) }]));
}

/** OpenAPI 3.0 ignores everything beside a reference. */
function convertSchema(schema: JsonObject): JsonObject {
  const converted = emptyJsonObject();
  for (const [key, value] of Object.entries(schema)) {
    if (key !== "$ref") converted[key] = convertKeyword(key, value);
  }
  const reference = textOf(schema["$ref"]);
  if (reference === "") return converted;
  const link = {
    $ref: reference.startsWith(definitionPrefix) ? schemaPrefix + reference.slice(definitionPrefix.length) : reference,
  };
  return Object.keys(converted).length === 0 ? link : { ...converted, allOf: [link] };
}

function convertKeyword(key: string, value: JsonValue): JsonValue {
  switch (key) {
    case "properties":
      return Object.fromEntries(
        Object.entries(objectOf(value)).map(([name, property]) => [name, convertSchema(objectOf(property))]),
      );
    case "items":
      return convertSchema(objectOf(value));
    case "additionalProperties":
      return isJsonObject(value) ? convertSchema(value) : value;
    case "allOf":
      return objectsOf(value).map(convertSchema);
    default:
      return value;
  }
}
