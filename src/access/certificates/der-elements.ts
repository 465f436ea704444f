/** One element of DER: what it is, what it holds, and how all of it is written. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  readonly bytes: Buffer;
}

/** The elements of one sequence's content, in order; what is cut short ends the list. */
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
