import { status } from "../../api/status.ts";
import type { Eventual } from "../../process/eventual.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { HttpResponse, IncomingRequest } from "../../request/exchange.ts";
import { errorReply, isAnswer } from "../error-response.ts";
import { encodeForwarded } from "./forwarded-request.ts";

/** Headers that describe the connection to the other process, not the answer. */
const connectionHeaders = new Set(["connection", "date", "keep-alive", "transfer-encoding"]);

/** Paths about the server as a whole. */
const wholePath = /^\/(cluster\/|metrics(\/slis)?(\?|$))/;

/** Answers with `handle`, except for requests about the whole server: those go to the process that listens on `path`. */
export function withForwarding(
  handle: (request: IncomingRequest) => Eventual<HttpResponse>,
  path: string,
): (request: IncomingRequest) => Eventual<HttpResponse> {
  return (request) => (wholePath.test(request.rawPath) ? forwardRequest(path, request) : handle(request));
}

/**
 * Passes a request to another process of this server, which authenticates and authorizes the user again.
 * @param path the socket of the other process's `serveForwarded`
 */
async function forwardRequest(path: string, request: IncomingRequest): Promise<HttpResponse> {
  try {
    const body = await encodeForwarded(request);
    const answer = await fetch("http://localhost/", {
      unix: path,
      method: "POST",
      body,
      signal: request.signal,
      decompress: false,
      redirect: "manual",
    });
    const headers = [...answer.headers].filter(([name]) => !connectionHeaders.has(name));
    return { kind: "reply", code: answer.status, headers, body: chunksOf(answer.body) };
  } catch (error) {
    if (isAnswer(error)) return errorReply(error);
    return errorReply(
      status.serviceUnavailable(`the process that keeps the store does not answer: ${thrownText(error)}`),
    );
  }
}

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void> {
  if (body !== null) yield* body;
}
