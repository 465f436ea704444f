/** One element of DER: its tag, its content, and its whole encoding. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  readonly bytes: Buffer;
}

/** Returns the elements of a sequence's content in order. A truncated one ends the list. */
export function derElements(bytes: Buffer | undefined): DerElement[] {
  const found: DerElement[] = [];
  for (let at = 0; bytes !== undefined && at + 2 <= bytes.length; ) {
    const tag = bytes[at] as number;
    const short = bytes[at + 1] as number;
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f;
    if (lengthBytes > 4 || at + 2 + lengthBytes > bytes.length) break;
    const length = lengthBytes === 0 ? short & 0x7f : bytes.readUIntBE(at + 2, lengthBytes);
    const start = at + 2 + lengthBytes;
    if (start + length > bytes.length) break;
    found.push({ tag, content: bytes.subarray(start, start + length), bytes: bytes.subarray(at, start + length) });
    at = start + length;
  }
  return found;
}
