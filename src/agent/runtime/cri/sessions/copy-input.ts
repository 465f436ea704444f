import type { SpdyStream } from "../../../serving/streaming/spdy/spdy-stream.ts";

/** Copies the client's input to a stream, and ends that with it. */
export async function copyInput(stream: SpdyStream, input: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of input) await stream.write(chunk);
  } catch {
    // The client's connection broke, which ends its input like any other end.
  }
  stream.end();
}
