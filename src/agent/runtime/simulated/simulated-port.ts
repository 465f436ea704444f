import type { PortConnection } from "../runtime.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");
/** Bytes of a request's head that are read before the answer. */
const headBytesMax = 16_384;

/** Answers the first request of a connection to any port with a page that names the pod, and closes the connection. */
export async function answerPort(
  { namespace, podName }: { readonly namespace: string; readonly podName: string },
  port: number,
  { input, output, signal }: PortConnection,
): Promise<void> {
  let head = "";
  for await (const chunk of input) {
    if (signal.aborted) return;
    head += decoder.decode(chunk.subarray(0, headBytesMax - head.length));
    if (head.includes("\r\n\r\n") || head.length >= headBytesMax) break;
  }
  if (head === "" || signal.aborted) return;
  const body = `simulated pod ${namespace}/${podName} answers on port ${port}\n`;
  const lines = [
    "HTTP/1.1 200 OK",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${encoder.encode(body).length}`,
    "Connection: close",
  ];
  const answer = head.startsWith("HEAD ") ? "" : body;
  await output(encoder.encode(`${lines.join("\r\n")}\r\n\r\n${answer}`));
}
