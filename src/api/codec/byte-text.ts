const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

export function toText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
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
