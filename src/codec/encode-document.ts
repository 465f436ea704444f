import type { JsonObject } from "../api/json.ts";
import type { StructSchema } from "../schema/schema.ts";
import { toBytes } from "./byte-text.ts";
import { stringifyJson } from "./json.ts";
import type { Representation } from "./representation.ts";

/** A document with its kind and apiVersion, and its schema where one is needed to write it as protobuf. */
export interface TypedDocument {
  readonly document: JsonObject;
  readonly schema: StructSchema | undefined;
}

/** A whole document in the media type of the response. The transform of the representation is the caller's work. */
export function encodeDocument({ document }: TypedDocument, { mediaType, pretty }: Representation): Uint8Array {
  switch (mediaType) {
    case "application/json":
      return toBytes(pretty ? stringifyJson(document, 2) : `${stringifyJson(document)}\n`);
    case "application/yaml":
    case "application/vnd.kubernetes.protobuf":
    case "application/cbor":
      throw new Error(`${mediaType} is not wired yet`);
  }
}
