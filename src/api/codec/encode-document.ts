import type { JsonObject } from "../json.ts";
import { textOf } from "../json-reading.ts";
import type { StructSchema } from "../schema/schema.ts";
import { protobufMediaType } from "../vendor.ts";
import { joinBytes, toBytes } from "./byte-text.ts";
import { encodeCbor, encodeCborInSteps } from "./cbor.ts";
import { stringifyJson } from "./json.ts";
import { stringifyObject } from "./managed-fields-text.ts";
import { encodeMessage, wrapUnknown } from "./protobuf.ts";
import type { Representation } from "./representation.ts";
import { stringifyYaml, yamlParts } from "./yaml.ts";

/** A document with its kind and apiVersion, and the schema by which it is written as protobuf. */
export interface TypedDocument {
  readonly document: JsonObject;
  /** Schema for protobuf; undefined if the document has no protobuf form. */
  readonly schema: StructSchema | undefined;
}

/** Encodes a document in the media type of the response. The caller has already applied the transform. */
export function encodeDocument(typed: TypedDocument, { mediaType, pretty }: Representation): Uint8Array {
  const { document } = typed;
  switch (mediaType) {
    case "application/json":
      return toBytes(pretty ? stringifyJson(document, 2) : `${stringifyObject(document)}\n`);
    case "application/yaml":
      return toBytes(stringifyYaml(document));
    case protobufMediaType:
      return encodeEnvelope(typed);
    case "application/cbor":
      return encodeCbor(document);
  }
}

/** Does the same, and yields between its parts where the encoder can. */
export function* encodeDocumentInSteps(
  typed: TypedDocument,
  representation: Representation,
): Generator<void, Uint8Array> {
  yield;
  switch (representation.mediaType) {
    case "application/yaml": {
      const parts: Uint8Array[] = [];
      for (const part of yamlParts(typed.document)) {
        parts.push(toBytes(part));
        yield;
      }
      return joinBytes(parts);
    }
    case "application/cbor":
      return yield* encodeCborInSteps(typed.document);
    default:
      return encodeDocument(typed, representation);
  }
}

/** Encodes a document as protobuf in its envelope, which names its kind and apiVersion. */
export function encodeEnvelope({ document, schema }: TypedDocument): Uint8Array {
  const { kind, apiVersion } = document;
  if (schema === undefined) throw new Error(`${String(kind)} has no protobuf form`);
  return wrapUnknown({ kind: textOf(kind), apiVersion: textOf(apiVersion) }, encodeMessage(schema, document));
}
