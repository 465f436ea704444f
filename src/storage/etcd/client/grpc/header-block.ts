import { ProtocolError } from "./frame.ts";
import { decodeHuffman } from "./huffman.ts";

type Field = readonly [name: string, value: string];

/** HPACK's static table (RFC 7541, appendix A). */
const staticFields: readonly Field[] = [
  [":authority", ":method GET", ":method POST", ":path /", ":path /index.html", ":scheme http", ":scheme https"],
  [":status 200", ":status 204", ":status 206", ":status 304", ":status 400", ":status 404", ":status 500"],
  ["accept-charset", "accept-encoding gzip, deflate", "accept-language", "accept-ranges", "accept"],
  ["access-control-allow-origin", "age", "allow", "authorization", "cache-control", "content-disposition"],
  ["content-encoding", "content-language", "content-length", "content-location", "content-range", "content-type"],
  ["cookie", "date", "etag", "expect", "expires", "from", "host", "if-match", "if-modified-since", "if-none-match"],
  ["if-range", "if-unmodified-since", "last-modified", "link", "location", "max-forwards", "proxy-authenticate"],
  ["proxy-authorization", "range", "referer", "refresh", "retry-after", "server", "set-cookie"],
  ["strict-transport-security", "transfer-encoding", "user-agent", "vary", "via", "www-authenticate"],
]
  .flat()
  .map((field) => {
    const space = field.indexOf(" ");
    return space < 0 ? [field, ""] : [field.slice(0, space), field.slice(space + 1)];
  });
/** Maximum size of the table of a connection, which is HTTP/2's default, and what an entry counts beside its texts. */
const tableBytesMax = 4_096;
const entryBytes = 32;
/** Bytes of a number, beyond which it is too large for any length. */
const numberBytesMax = 5;

/** Encodes a header block. */
export function encodeHeaders(fields: readonly Field[]): Buffer {
  return Buffer.from(
    fields.map(([name, value]) => `${literal}${withLength(name)}${withLength(value)}`).join(""),
    "latin1",
  );
}

/** Mark of a field that is written in full, and must not be added to a table. */
const literal = "\0";
/** Bits of a length in its first byte. */
const lengthBits = 7;

function withLength(text: string): string {
  const full = 2 ** lengthBits - 1;
  if (text.length < full) return String.fromCharCode(text.length) + text;
  let length = String.fromCharCode(full);
  let rest = text.length - full;
  for (; rest >= 0x80; rest >>= 7) length += String.fromCharCode(0x80 | (rest & 0x7f));
  return length + String.fromCharCode(rest) + text;
}

/** Decodes the header blocks of a connection. It must see all of them in their order. */
export class HeaderDecoder {
  /** Fields to which later blocks refer, newest first. */
  #table: Field[] = [];
  #tableBytes = 0;
  #limitBytes: number;

  constructor(tableBytes = tableBytesMax) {
    this.#limitBytes = tableBytes;
  }

  /** Returns the fields of a block. The last one of each name counts. @throws ProtocolError */
  decode(block: Uint8Array): ReadonlyMap<string, string> {
    const fields = new Map<string, string>();
    const reader = new BlockReader(block);
    while (!reader.atEnd) {
      const first = reader.peek();
      if ((first & 0x80) !== 0) {
        const [name, value] = this.#fieldAt(reader.number(7));
        fields.set(name, value);
      } else if ((first & 0xe0) === 0x20) {
        this.#resize(reader.number(5));
      } else {
        const isAdded = (first & 0x40) !== 0;
        const index = reader.number(isAdded ? 6 : 4);
        const name = index === 0 ? reader.text() : this.#fieldAt(index)[0];
        const value = reader.text();
        fields.set(name, value);
        if (isAdded) this.#add([name, value]);
      }
    }
    return fields;
  }

  #fieldAt(index: number): Field {
    const field = staticFields[index - 1] ?? this.#table[index - 1 - staticFields.length];
    if (field === undefined) throw new ProtocolError(`a header with index ${index}`);
    return field;
  }

  #resize(bytes: number): void {
    if (bytes > tableBytesMax) throw new ProtocolError("a header table that we do not allow");
    this.#limitBytes = bytes;
    this.#shrinkTo(bytes);
  }

  #add(field: Field): void {
    this.#shrinkTo(this.#limitBytes - sizeOf(field));
    if (sizeOf(field) > this.#limitBytes) return;
    this.#table.unshift(field);
    this.#tableBytes += sizeOf(field);
  }

  #shrinkTo(bytes: number): void {
    while (this.#tableBytes > bytes && this.#table.length > 0) {
      this.#tableBytes -= sizeOf(this.#table.pop() as Field);
    }
  }
}

function sizeOf([name, value]: Field): number {
  return name.length + value.length + entryBytes;
}

class BlockReader {
  readonly #block: Uint8Array;
  #at = 0;

  constructor(block: Uint8Array) {
    this.#block = block;
  }

  get atEnd(): boolean {
    return this.#at === this.#block.length;
  }

  peek(): number {
    const byte = this.#block[this.#at];
    if (byte === undefined) throw new ProtocolError("a header block that ends early");
    return byte;
  }

  /** Reads a number that begins with the lower bits of a byte. */
  number(bits: number): number {
    const full = 2 ** bits - 1;
    let value = this.#next() & full;
    if (value < full) return value;
    for (let shift = 0; shift < 7 * numberBytesMax; shift += 7) {
      const byte = this.#next();
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
    throw new ProtocolError("a header with a number that is too large");
  }

  text(): string {
    const isHuffman = (this.peek() & 0x80) !== 0;
    const end = this.number(lengthBits) + this.#at;
    if (end > this.#block.length) throw new ProtocolError("a header block that ends early");
    const bytes = this.#block.subarray(this.#at, end);
    this.#at = end;
    return isHuffman ? decodeHuffman(bytes) : Buffer.from(bytes).toString("latin1");
  }

  #next(): number {
    const byte = this.peek();
    this.#at++;
    return byte;
  }
}
