import type { Readable } from "node:stream";
import { AnswerCutError } from "../../request/answer-cut.ts";
import type { ByteSink } from "../../request/exchange.ts";

/**
 * Copies the body of a backend's answer to the client, at the client's pace. Destroys the body in the end.
 * @throws AnswerCutError if the backend breaks off
 */
export async function copyBody(body: Readable, sink: ByteSink): Promise<void> {
  const stop = () => body.destroy();
  if (sink.signal.aborted) stop();
  sink.signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (!sink.write(chunk)) await sink.drained();
    }
  } catch (error) {
    if (!sink.signal.aborted) throw new AnswerCutError((error as Error).message, { cause: error });
  } finally {
    sink.signal.removeEventListener("abort", stop);
    body.destroy();
  }
}
