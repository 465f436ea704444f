import type { ClientRequest, IncomingMessage } from "node:http";

/** Time limit for a connection and its handshake. */
const connectMsMax = 10_000;

/**
 * Resolves with the head of the answer to a request. Only the connection has a time limit, because a followed log is
 * silent for as long as its container is.
 * @param connected event of the socket when it can be used
 * @param signal aborts the request, even while its answer is being read
 */
export function answerHead(
  sent: ClientRequest,
  connected: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const abort = () => sent.destroy(new Error("context canceled"));
  signal.addEventListener("abort", abort, { once: true });
  const late = () => sent.destroy(Object.assign(new Error("time-out"), { code: "ETIMEDOUT" }));
  const timer = setTimeout(late, connectMsMax);
  const inTime = () => clearTimeout(timer);
  sent.once("socket", (socket) => {
    if (sent.reusedSocket || !socket.connecting) inTime();
    else socket.once(connected, inTime);
  });
  sent.once("response", resolve);
  sent.once("close", () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  });
  sent.on("error", reject);
  return promise;
}
