import { NoAnswerError } from "./transport.ts";

/** Length limit of a line. Stored objects have at most 2 MiB, so a longer line cannot be an event. */
export const frameBytesMax = 16 * 1024 * 1024;

const newline = 0x0a;

/** Yields the complete lines of a body. @throws NoAnswerError for one that is too long or cut short */
export async function* linesOf(
  body: AsyncIterable<Uint8Array>,
  bytesMax = frameBytesMax,
): AsyncGenerator<Uint8Array, void> {
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const rest = chunk.subarray(from, end);
      from = end + 1;
      if (begunBytes + rest.length > bytesMax) throw tooLong(bytesMax);
      const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
      begun = [];
      begunBytes = 0;
      if (line.length > 0) yield line;
    }
    if (from === chunk.length) continue;
    begunBytes += chunk.length - from;
    if (begunBytes > bytesMax) throw tooLong(bytesMax);
    begun.push(chunk.subarray(from));
  }
  if (begunBytes > 0) throw new NoAnswerError("the watch ended inside an event");
}

function tooLong(bytesMax: number): NoAnswerError {
  return new NoAnswerError(`an event of the watch is longer than ${bytesMax} bytes`);
}
