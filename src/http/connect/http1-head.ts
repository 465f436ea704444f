import type { Socket } from "node:net";
import type { HeaderList } from "../../request/exchange.ts";

/** The head of a response, and the start of its body that arrived with it. */
export interface ResponseHead {
  readonly code: number;
  readonly headers: HeaderList;
  readonly rest: Buffer;
}

const headBytesMax = 64 * 1024;
const headTimeoutMs = 30_000;
const headEnd = Buffer.from("\r\n\r\n");

/** Returns the head of a request, ready to be sent. */
export function requestHead(method: string, path: string, headers: HeaderList): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/**
 * Reads up to the end of a response's head.
 * @throws Error if the backend sends something else, too much, or nothing
 */
export function readResponseHead(socket: Socket): Promise<ResponseHead> {
  const { promise, resolve, reject } = Promise.withResolvers<ResponseHead>();
  let received: Buffer = Buffer.alloc(0);
  const stop = () => {
    clearTimeout(timer);
    socket.off("data", onData);
    socket.off("close", onClose);
    socket.pause();
  };
  const fail = (why: string) => {
    stop();
    reject(new Error(why));
  };
  const onClose = () => fail("EOF");
  const onData = (chunk: Buffer) => {
    received = received.byteLength === 0 ? chunk : Buffer.concat([received, chunk]);
    const end = received.indexOf(headEnd);
    if (end === -1) {
      if (received.byteLength > headBytesMax) fail("the head of the response is too large");
      return;
    }
    const head = parseHead(received.toString("latin1", 0, end));
    if (head === undefined) return fail("malformed HTTP response");
    stop();
    resolve({ ...head, rest: received.subarray(end + headEnd.byteLength) });
  };
  const timer = setTimeout(() => fail("timeout awaiting response headers"), headTimeoutMs);
  socket.on("data", onData);
  socket.once("close", onClose);
  socket.resume();
  return promise;
}

function parseHead(text: string): Pick<ResponseHead, "code" | "headers"> | undefined {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const code = /^HTTP\/1\.[01] ([0-9]{3})/.exec(statusLine)?.[1];
  if (code === undefined) return undefined;
  const headers: [string, string][] = [];
  for (const line of lines) {
    const at = line.indexOf(":");
    if (at <= 0) return undefined;
    headers.push([line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]);
  }
  return { code: Number(code), headers };
}
