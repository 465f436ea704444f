import { ProtocolError } from "./frame.ts";

/**
 * Lengths of the codes of the bytes 0 to 255 (RFC 7541, appendix B). The code is canonical: codes are consecutive in the
 * order of their lengths, and of the bytes for equal lengths.
 */
const codeLengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26,
];
const longestCode = 30;
/** Padding at the end of a text is shorter than a byte. */
const paddingBitsMax = 7;

/** The bytes of each code length, and the first code of that length. */
const bytesByLength: readonly number[][] = Array.from({ length: longestCode + 1 }, (_, length) =>
  [...codeLengths.keys()].filter((byte) => codeLengths[byte] === length),
);
const firstCodes: readonly number[] = (() => {
  const first: number[] = [0];
  for (let length = 1; length <= longestCode; length++) {
    const shorter = (first[length - 1] as number) + (bytesByLength[length - 1] as number[]).length;
    first.push(shorter * 2);
  }
  return first;
})();

/** Decodes a text in HPACK's Huffman code. @throws ProtocolError */
export function decodeHuffman(encoded: Uint8Array): string {
  const bytes: number[] = [];
  let code = 0;
  let length = 0;
  for (const octet of encoded) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((octet >> bit) & 1);
      length++;
      if (length > longestCode) throw new ProtocolError("a header with an unknown code");
      const byte = bytesByLength[length]?.[code - (firstCodes[length] as number)];
      if (byte === undefined) continue;
      bytes.push(byte);
      code = 0;
      length = 0;
    }
  }
  if (length > paddingBitsMax || code !== 2 ** length - 1) throw new ProtocolError("a header with wrong padding");
  return Buffer.from(bytes).toString("latin1");
}
