const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

export function toText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/**
 * Copies a text that was cut from another, which it would keep in memory as a whole: parts of a request's body may live
 * much longer than the request. Joining copies, at a third of the cost of encoding and decoding.
 */
export function copyOfText(text: string): string {
  return [text, ""].join("");
}

/** Returns the index of the first occurrence of `sought`, or -1. Makes no view of the bytes. */
export function indexOfBytes(bytes: Uint8Array, sought: Uint8Array): number {
  return Buffer.prototype.indexOf.call(bytes, sought);
}

/** Copies a part of the bytes. A view would take more memory: it gives `bytes` an ArrayBuffer for as long as they live. */
export function copyOfBytes(bytes: Uint8Array, from: number, to?: number): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, from, to);
}

/**
 * Joins the parts with one allocation. Returns a Buffer, because a socket would first convert any other array to one,
 * slowly.
 */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array;
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
