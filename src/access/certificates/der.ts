/** Tags of DER, the encoding of certificates. DER is written from the inside out, each part as its final bytes. */

const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  generalizedTime: 0x18,
} as const;

/**
 * Encodes tag, length and content. `[n]` of ASN.1 is 0xa0 + n around whole elements, and 0x80 + n in place of a
 * primitive's tag.
 */
export function element(tagByte: number, ...content: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(content);
  return Buffer.concat([Uint8Array.of(tagByte), lengthBytes(body.length), body]);
}

function lengthBytes(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Uint8Array.of(0x80 | bytes.length, ...bytes);
}

export function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return element(tag.sequence, ...parts);
}

export function set(...parts: readonly Uint8Array[]): Uint8Array {
  return element(tag.set, ...parts);
}

/** Encodes a positive integer from its bytes, most significant first. */
export function integer(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const significant = first < 0 ? Uint8Array.of(0) : bytes.subarray(first);
  const isNegative = ((significant[0] ?? 0) & 0x80) !== 0;
  return element(tag.integer, isNegative ? Uint8Array.of(0) : new Uint8Array(), significant);
}

export function boolean(value: boolean): Uint8Array {
  return element(tag.boolean, Uint8Array.of(value ? 0xff : 0));
}

export function octetString(bytes: Uint8Array): Uint8Array {
  return element(tag.octetString, bytes);
}

/** Encodes a bit string whose last byte has `unused` unused bits. */
export function bitString(bytes: Uint8Array, unused = 0): Uint8Array {
  return element(tag.bitString, Uint8Array.of(unused), bytes);
}

export function utf8String(text: string): Uint8Array {
  return element(tag.utf8String, Buffer.from(text));
}

/** Encodes the dotted form, such as `2.5.29.19`. */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(tag.objectIdentifier, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

/** Encodes a time in whole seconds. Certificates have two-digit years before 2050. */
export function time(ms: number): Uint8Array {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`;
  const isShort = Number(digits.slice(0, 4)) < 2050;
  return isShort
    ? element(tag.utcTime, Buffer.from(digits.slice(2), "ascii"))
    : element(tag.generalizedTime, Buffer.from(digits, "ascii"));
}

/**
 * Returns the elements directly inside a constructed one, each with all its bytes. Only for DER that OpenSSL has already
 * accepted.
 */
export function children(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  const outer = extent(bytes, 0);
  for (let at = outer.content; at < outer.end; ) {
    const { end } = extent(bytes, at);
    parts.push(bytes.subarray(at, end));
    at = end;
  }
  return parts;
}

function extent(bytes: Uint8Array, at: number): { content: number; end: number } {
  const first = bytes[at + 1] ?? 0;
  const lengthSize = first < 0x80 ? 0 : first & 0x7f;
  let length = first < 0x80 ? first : 0;
  for (let index = 0; index < lengthSize; index++) length = length * 256 + (bytes[at + 2 + index] ?? 0);
  const content = at + 2 + lengthSize;
  if (content + length > bytes.length) throw new RangeError("the DER element ends after its bytes");
  return { content, end: content + length };
}
