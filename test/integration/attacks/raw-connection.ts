import { connect } from "node:tls";
import type { TestServer } from "../server.ts";

export interface RawAnswers {
  /** Codes of the answers, in order. */
  readonly codes: readonly number[];
  readonly isClosed: boolean;
  readonly text: string;
}

/**
 * Sends bytes on an HTTP/1.1 connection of their own. Returns what has come back when the server closes the connection, or
 * when there are as many answers as expected.
 */
export async function sendRaw(
  server: TestServer,
  text: string,
  answers = Number.POSITIVE_INFINITY,
): Promise<RawAnswers> {
  const { port, ca } = server.running;
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["http/1.1"] });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    if (codesOf(received).length >= answers) resolve(false);
  });
  socket.on("error", () => resolve(true));
  socket.on("close", () => resolve(true));
  socket.write(text, "latin1");
  const isClosed = await promise;
  socket.destroy();
  return { codes: codesOf(received), isClosed, text: received };
}

function codesOf(text: string): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, code]) => Number(code));
}
