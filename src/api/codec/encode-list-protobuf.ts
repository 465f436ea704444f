import type { JsonObject } from "../json.ts";
import type { StructSchema } from "../schema/schema.ts";
import type { ListHead } from "./list-head.ts";
import { encodeListHead, encodeListItemHead, encodeMessage } from "./protobuf.ts";
import { newWriter } from "./protobuf-writer.ts";

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
/** Empty contentEncoding and contentType, fields 3 and 4, which close the envelope. */
const envelopeTail = Uint8Array.of(0x1a, 0, 0x22, 0);
const typeTag = 0x0a;
const rawTag = 0x12;

/**
 * Yields a list message in its envelope, in parts. The envelope starts with the length of the message, so all items are
 * encoded before the first byte is sent.
 */
export function* protobufListParts(
  { kind, apiVersion, metadata }: ListHead,
  items: Iterable<JsonObject>,
  schema: StructSchema,
): Generator<Uint8Array> {
  const message = [encodeListHead(metadata)];
  for (const item of items) {
    const bytes = encodeMessage(schema, item);
    message.push(encodeListItemHead(bytes.length), bytes);
  }
  const length = message.reduce((sum, part) => sum + part.length, 0);
  yield magic;
  yield envelopeHead(kind, apiVersion, length);
  yield* message;
  yield envelopeTail;
}

function envelopeHead(kind: string, apiVersion: string, length: number): Uint8Array {
  return newWriter()
    .uint32(typeTag)
    .fork()
    .uint32(0x0a)
    .string(apiVersion)
    .uint32(0x12)
    .string(kind)
    .ldelim()
    .uint32(rawTag)
    .uint32(length)
    .finish();
}
