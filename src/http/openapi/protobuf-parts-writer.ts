import { newWriter } from "../../api/codec/protobuf-writer.ts";
import type { JsonValue } from "../../api/json.ts";
import type { DocumentPart, PartsWriter } from "./document-part.ts";
import { bytesType, type Fields, pair, type Write, writeKnown } from "./protobuf-fields.ts";

/** A message whose parts are written one by one. Its other fields are written whole. */
export interface DocumentMessage {
  readonly fields: Fields;
  /** By key of the document. */
  readonly parts: ReadonlyMap<string, MessagePart>;
}

export interface MessagePart {
  readonly field: number;
  readonly content: DocumentMessage | PairsMessage;
}

/** A map as a message: the field of its pairs, and how to write their values. */
interface PairsMessage {
  readonly pairs: number;
  readonly write: Write;
}

/** A part to which more may be added. */
interface OpenPart {
  readonly key: string;
  readonly part: MessagePart;
  readonly chunks: Uint8Array[];
}

/**
 * Writes a document as a protobuf message. Covers only the content of our documents; an unknown key of a message is a bug
 * here and throws.
 */
export class ProtobufPartsWriter implements PartsWriter {
  readonly #message: DocumentMessage;
  readonly #chunks: Uint8Array[] = [];
  /** From the outermost in. */
  readonly #open: OpenPart[] = [];

  constructor(message: DocumentMessage) {
    this.#message = message;
  }

  add({ path, value }: DocumentPart): void {
    const parents = path.slice(0, -1);
    while (this.#open.length > parents.length || this.#open.some(({ key }, at) => key !== parents[at])) this.#close();
    for (const key of parents.slice(this.#open.length)) {
      this.#open.push({ key, part: partOf(this.#content, key), chunks: [] });
    }
    this.#add(path.at(-1) ?? "", value);
  }

  finish(): Uint8Array {
    while (this.#open.length > 0) this.#close();
    return Buffer.concat(this.#chunks);
  }

  get #content(): DocumentMessage | PairsMessage {
    return this.#open.at(-1)?.part.content ?? this.#message;
  }

  #add(key: string, value: JsonValue): void {
    const content = this.#content;
    const writer = newWriter();
    if ("pairs" in content) pair(content.pairs, key, content.write)(writer, value);
    else writeKnown(content.fields, key, writer, value);
    (this.#open.at(-1)?.chunks ?? this.#chunks).push(writer.finish());
  }

  #close(): void {
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const { part, chunks } = closed;
    const bytes = chunks.reduce((sum, one) => sum + one.byteLength, 0);
    const tag = newWriter()
      .uint32((part.field << 3) | bytesType)
      .uint32(bytes)
      .finish();
    const outer = this.#open.at(-1)?.chunks ?? this.#chunks;
    outer.push(tag);
    for (const chunk of chunks) outer.push(chunk);
  }
}

function partOf(content: DocumentMessage | PairsMessage, key: string): MessagePart {
  const part = "parts" in content ? content.parts.get(key) : undefined;
  if (part === undefined) throw new Error(`${key} has no field in the protobuf form of OpenAPI`);
  return part;
}
