const textBytesMax = 64 * 1024;

/** Reads a text to its end, and drops what is beyond its longest length. */
export async function readText(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    if (bytes < textBytesMax) chunks.push(chunk);
    bytes += chunk.byteLength;
  }
  return Buffer.concat(chunks).toString();
}
