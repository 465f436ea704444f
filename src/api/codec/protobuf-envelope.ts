import { apiVersionOf, type GroupVersionKind } from "../gvk.ts";
import type { JsonObject } from "../json.ts";
import type { WatchEventType } from "../watch-event.ts";
import { joinBytes, toBytes } from "./byte-text.ts";
import { expectWireType, readFields, scalarCodecs, tagOf } from "./protobuf-scalar.ts";
import { ProtobufDecodeError, ProtobufReader, wireBytes, wireVarint } from "./protobuf-wire.ts";
import { newWriter } from "./protobuf-writer.ts";
import { varintBytes, writeVarint } from "./varint.ts";

/** Every object on the wire starts with these four bytes: `k8s` and a zero. */
const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** An object in its envelope; `raw` is the message of the kind that apiVersion and kind name. */
export interface UnknownEnvelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  readonly contentType: string;
  readonly contentEncoding: string;
}

/** Type of the message in an envelope. */
interface EnvelopeType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Wraps an encoded message in the magic prefix and the envelope. */
export function wrapUnknown(type: EnvelopeType, raw: Uint8Array): Uint8Array {
  return joinBytes([envelopeStart(type), fieldHead(rawNumber, raw.length), raw, envelopeTail]);
}

/** Wraps an encoded message of a kind, whose name is encoded once. */
export function wrapKind(gvk: GroupVersionKind, raw: Uint8Array): Uint8Array {
  let start = kindStarts.get(gvk);
  if (start === undefined) {
    start = envelopeStart({ apiVersion: apiVersionOf(gvk), kind: gvk.kind });
    kindStarts.set(gvk, start);
  }
  return joinBytes([start, fieldHead(rawNumber, raw.length), raw, envelopeTail]);
}

const kindStarts = new WeakMap<GroupVersionKind, Uint8Array>();
const rawNumber = 2;

/** Encodes the start of an envelope: the magic prefix, and the type and length of the message. */
export function envelopeHead(type: EnvelopeType, length: number): Uint8Array {
  return joinBytes([envelopeStart(type), fieldHead(rawNumber, length)]);
}

/** End of an envelope: an empty encoding and an empty content type. */
export const envelopeTail = Uint8Array.of(tagOf(3, wireBytes), 0, tagOf(4, wireBytes), 0);

function envelopeStart({ apiVersion, kind }: EnvelopeType): Uint8Array {
  const type = [...textField(1, apiVersion), ...textField(2, kind)];
  return joinBytes([
    magic,
    fieldHead(
      1,
      type.reduce((sum, part) => sum + part.length, 0),
    ),
    ...type,
  ]);
}

function textField(number: number, text: string): readonly [Uint8Array, Uint8Array] {
  const bytes = toBytes(text);
  return [fieldHead(number, bytes.length), bytes];
}

/** Encodes the tag and the length that precede a message or text of `length` bytes. The number is less than 16. */
function fieldHead(number: number, length: number): Uint8Array {
  const head = new Uint8Array(1 + varintBytes(length));
  head[0] = tagOf(number, wireBytes);
  writeVarint(head, 1, length);
  return head;
}

/** Limit of the fields of an envelope. Upstream has four; later versions may add some. */
const envelopeFieldsMax = 100;

/**
 * Opens an envelope; `raw` is a view into `bytes`.
 * @throws ProtobufDecodeError
 */
export function unwrapUnknown(bytes: Uint8Array): UnknownEnvelope {
  if (bytes.length === 0) throw new ProtobufDecodeError("empty data");
  if (!hasProtobufMagic(bytes)) {
    const prefix = magic.join(" ");
    throw new ProtobufDecodeError(
      `provided data does not appear to be a protobuf message, expected prefix [${prefix}]`,
    );
  }
  if (bytes.length === magic.length) throw new ProtobufDecodeError("empty body");
  const reader = new ProtobufReader(bytes.subarray(magic.length), envelopeFieldsMax);
  const envelope = { apiVersion: "", kind: "", raw: new Uint8Array(), contentType: "", contentEncoding: "" };
  while (!reader.atEnd) {
    reader.count();
    const { number, wireType } = reader.tag();
    if (number > 4) {
      reader.skip(wireType);
      continue;
    }
    expectWireType(wireType, wireBytes);
    if (number === 1) readTypeMeta(reader, envelope);
    else if (number === 2) envelope.raw = reader.bytes() as Uint8Array<ArrayBuffer>;
    else if (number === 3) envelope.contentEncoding = reader.text();
    else envelope.contentType = reader.text();
  }
  return envelope;
}

export function hasProtobufMagic(bytes: Uint8Array): boolean {
  return bytes.length >= magic.length && magic.every((byte, at) => bytes[at] === byte);
}

/** Encodes the `metadata` field of a list message, which precedes the items. */
export function encodeListHead(listMeta: JsonObject): Uint8Array {
  const writer = newWriter();
  writer.uint32(tagOf(1, wireBytes)).fork();
  const text = (number: number, field: string) =>
    scalarCodecs.string.write(writer.uint32(tagOf(number, wireBytes)), listMeta[field] ?? "");
  text(1, "selfLink");
  text(2, "resourceVersion");
  text(3, "continue");
  const remaining = listMeta["remainingItemCount"];
  if (remaining !== undefined && remaining !== null) {
    scalarCodecs.int64.write(writer.uint32(tagOf(4, wireVarint)), remaining);
  }
  return writer.ldelim().finish();
}

/** Encodes the tag and length that precede an item of `length` bytes in a list message. */
export function encodeListItemHead(length: number): Uint8Array {
  return fieldHead(2, length);
}

/** Size of the length before each event. */
export const watchFrameLengthBytes = 4;

/**
 * Encodes one event of a protobuf watch: the length in four big-endian bytes, then a WatchEvent around the object's
 * envelope.
 */
export function encodeWatchFrame(type: WatchEventType, objectEnvelope: Uint8Array): Uint8Array {
  const rawHead = fieldHead(1, objectEnvelope.length);
  const objectHead = fieldHead(2, rawHead.length + objectEnvelope.length);
  const parts = [...textField(1, type), objectHead, rawHead, objectEnvelope];
  const length = Buffer.alloc(watchFrameLengthBytes);
  length.writeUInt32BE(parts.reduce((sum, part) => sum + part.length, 0));
  return joinBytes([length, ...parts]);
}

function readTypeMeta(reader: ProtobufReader, envelope: { apiVersion: string; kind: string }): void {
  readFields(reader, (number, wireType) => {
    if (number !== 1 && number !== 2) return false;
    expectWireType(wireType, wireBytes);
    if (number === 1) envelope.apiVersion = reader.text();
    else envelope.kind = reader.text();
    return true;
  });
}
