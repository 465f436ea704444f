import { expect, test } from "bun:test";
import { toText } from "../../api/codec/byte-text.ts";
import { convertedSwagger } from "./convert-swagger.ts";
import { encodeParts } from "./document-part.ts";
import { JsonPartsWriter } from "./json-parts-writer.ts";
import { openApiV3Message } from "./openapi-v3-protobuf.ts";
import { ProtobufPartsWriter } from "./protobuf-parts-writer.ts";
import { readSwagger } from "./swagger-part.ts";
import { decodedDocument } from "./testing.ts";

const thing = { $ref: "#/definitions/Thing" };
const { info, ...part } = readSwagger(
  Buffer.from(
    JSON.stringify({
      info: { title: "an extension", version: "1", license: {} },
      paths: {
        "/apis/g/v1/things": {
          get: {
            operationId: "list",
            produces: ["application/json"],
            parameters: [{ $ref: "#/parameters/limit" }, { name: "q", in: "query", type: "string", uniqueItems: true }],
            responses: { 200: { description: "OK", schema: thing } },
          },
          post: {
            consumes: ["*/*"],
            produces: ["application/json"],
            parameters: [{ name: "body", in: "body", required: true, schema: thing }],
            responses: { 201: { description: "Created" } },
          },
          parameters: [{ name: "name", in: "path", required: true, type: "string" }],
        },
      },
      definitions: {
        Thing: {
          properties: { a: { ...thing, description: "nested" }, b: thing, c: { additionalProperties: thing } },
          "x-kubernetes-group-version-kind": [{ group: "g", version: "v1", kind: "Thing" }],
        },
      },
      parameters: { limit: { name: "limit", in: "query", type: "integer" } },
    }),
  ),
);

function textOf(): string {
  let step: IteratorResult<void, Uint8Array>;
  const steps = encodeParts(convertedSwagger(info, part), new JsonPartsWriter());
  do step = steps.next();
  while (step.done !== true);
  return toText(step.value);
}

test("convertedSwagger() is the document that upstream serves for such a server", () => {
  const link = { $ref: "#/components/schemas/Thing" };
  expect(JSON.parse(textOf())).toEqual({
    openapi: "3.0.0",
    info: { title: "an extension", version: "1" },
    paths: {
      "/apis/g/v1/things": {
        get: {
          operationId: "list",
          parameters: [
            { name: "limit", in: "query", schema: { type: "integer" } },
            { name: "q", in: "query", schema: { type: "string", uniqueItems: true } },
          ],
          responses: { 200: { description: "OK", content: { "application/json": { schema: link } } } },
        },
        post: {
          requestBody: { required: true, content: { "*/*": { schema: link } } },
          responses: { 201: { description: "Created" } },
        },
        parameters: [{ name: "name", in: "path", required: true, schema: { type: "string" } }],
      },
    },
    components: {
      schemas: {
        Thing: {
          properties: {
            a: { description: "nested", allOf: [link] },
            b: link,
            c: { additionalProperties: link },
          },
          "x-kubernetes-group-version-kind": [{ group: "g", version: "v1", kind: "Thing" }],
        },
      },
    },
  });
});

test("convertedSwagger() has a protobuf form", () => {
  const steps = encodeParts(convertedSwagger(info, part), new ProtobufPartsWriter(openApiV3Message));
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  expect(decodedDocument("v3", step.value)).toMatchObject({
    paths: { "/apis/g/v1/things": { get: { operationId: "list" } } },
  });
});
