import http2, { type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Eventual } from "../../process/eventual.ts";
import { AnswerCutError } from "../../request/answer-cut.ts";
import { ClientGoneError } from "../../request/client-gone.ts";
import type { HttpResponse, Reply, StreamReply } from "../../request/exchange.ts";
import { answer } from "./answer.ts";
import { AnswerGroup } from "./answer-group.ts";
import type { Connection } from "./connection.ts";
import { ReceivedRequest, type RequestHead } from "./received-request.ts";
import { hasNoBody, headerFields, knownLength, type Serving } from "./serving.ts";
import { StreamSink } from "./stream-sink.ts";
import { writeBody } from "./write-body.ts";

/** Larger than the largest body, because the stream's window is not replenished while a body is read. */
const streamWindowBytes = 4 * 1024 * 1024;
const connectionWindowBytes = 4 * 1024 * 1024;
const endStreamFlag = 1;
/** Time limit for sending the last answer. */
const goodbyeMs = 1_000;
const { NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR } = http2.constants;

/** Serves HTTP/2 on a connection whose TLS handshake is done. */
export function serveHttp2(connection: Connection<TLSSocket>, serving: Serving): void {
  const { limits } = serving;
  connection.expect(limits.idleTimeoutMs);
  const session = performServerHandshake(connection.socket, {
    settings: {
      maxConcurrentStreams: limits.streams,
      initialWindowSize: streamWindowBytes,
      maxHeaderListSize: limits.headerBytes,
    },
    // Our responses need no check for repeated fields.
    strictSingleValueFields: false,
  });
  session.setLocalWindowSize(connectionWindowBytes);
  session.on("error", () => connection.socket.destroy());
  session.on("close", () => connection.socket.destroy());
  /** The session closes by itself, except while a stream that arrived after its GOAWAY is open and unanswered. */
  const leaveWhenIdle = (): void => {
    if (connection.isFinishing && connection.activeRequests === 0) connection.expect(goodbyeMs);
  };
  connection.finish = () => {
    connection.isFinishing = true;
    session.close();
    leaveWhenIdle();
  };
  const place: Place = {
    answers: new AnswerGroup(),
    connection,
    serving,
    leave() {
      connection.end(limits.idleTimeoutMs);
      leaveWhenIdle();
    },
  };
  session.on("stream", (stream, headers, flags, rawHeaders) => {
    connection.begin();
    const head = headOf(headers, rawHeaders as unknown as readonly string[], connection);
    const hasBody = (flags & endStreamFlag) === 0;
    serve(stream, new ReceivedRequest(head, hasBody ? stream : undefined, limits), place);
  });
}

/** Exists in Node since 20.12 and in Bun, but not in their type definitions. */
const { performServerHandshake } = http2 as unknown as {
  performServerHandshake(socket: TLSSocket, options: http2.ServerOptions): ServerHttp2Session;
};

function headOf(headers: IncomingHttpHeaders, raw: readonly string[], connection: Connection): RequestHead {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    if (name.charCodeAt(0) !== 0x3a) list.push([name, value]);
    else if (name === ":authority") list.push(["host", value]);
  }
  return {
    method: headers[":method"] ?? "",
    rawPath: headers[":path"] ?? "",
    headers: list,
    peer: connection.peer,
    remoteAddress: connection.remoteAddress,
    httpVersion: "2",
  };
}

/** A connection as its requests see it. */
interface Place {
  readonly answers: AnswerGroup;
  readonly connection: Connection;
  readonly serving: Serving;
  /** Called when a request has ended. */
  leave(): void;
}

function serve(stream: ServerHttp2Stream, request: ReceivedRequest, place: Place): void {
  const { answers, serving } = place;
  answers.begin();
  let finished = false;
  // Each event comes once at most, and removing a listener costs more than keeping it.
  stream.on("error", ignore);
  stream.on("close", () => {
    place.leave();
    if (!finished) request.abort(new ClientGoneError());
  });
  const fail = (error: unknown) => {
    serving.onError(error);
    stream.close(NGHTTP2_INTERNAL_ERROR);
  };
  const deliver = (response: HttpResponse) => {
    finished = response.kind === "reply";
    answers.send(() => void send(response, stream, request, place).catch(fail));
  };
  const response = answer(request, serving);
  if (response instanceof Promise) response.then(deliver).catch(fail);
  else deliver(response);
}

function ignore(): void {}

async function send(
  response: HttpResponse,
  stream: ServerHttp2Stream,
  request: ReceivedRequest,
  { connection, serving }: Place,
): Promise<void> {
  if (stream.destroyed || stream.closed) {
    if (response.kind === "stream") await runUnheard(response, stream);
    return;
  }
  const { fields: head, close } = headerFields(response.headers, { ":status": String(response.code) });
  if (close) stream.once("close", () => connection.finish());
  if (response.kind === "stream") {
    stream.respond(head);
    return request.method === "HEAD" ? runUnheard(response, stream.end()) : runStream(response, stream, serving);
  }
  const sent = sendReply(response, head, stream, request, serving);
  if (sent !== undefined) await sent;
  if (request.hasBody) lingerForBody(stream, serving);
}

/** Sends a reply. Small ones are sent synchronously. */
function sendReply(
  { code, body }: Reply,
  head: Record<string, string | string[]>,
  stream: ServerHttp2Stream,
  request: ReceivedRequest,
  serving: Serving,
): Eventual<void> {
  const length = knownLength(body);
  if (length !== undefined && !hasNoBody(code)) head["content-length"] = String(length);
  if (request.method === "HEAD" || length === 0 || hasNoBody(code)) {
    stream.respond(head, { endStream: true });
    return;
  }
  stream.respond(head);
  if (body instanceof Uint8Array && body.byteLength <= stream.writableHighWaterMark) {
    stream.end(body);
    return;
  }
  return writeBody(stream, body, serving.limits.writeStallTimeoutMs).then(() => void stream.end());
}

/**
 * If a client still uploads after its answer, keep reading for a while, so that it sees the answer, and then cut it off.
 */
function lingerForBody(stream: ServerHttp2Stream, { limits }: Serving): void {
  if (stream.readableEnded || stream.destroyed) return;
  stream.resume();
  const timer = setTimeout(() => stream.close(NGHTTP2_NO_ERROR), limits.lingerMs);
  stream.once("close", () => clearTimeout(timer));
}

async function runStream(response: StreamReply, stream: ServerHttp2Stream, serving: Serving): Promise<void> {
  const sink = new StreamSink(stream);
  serving.sinks.add(sink);
  if (serving.draining) sink.end();
  try {
    await response.run(sink);
    if (!stream.destroyed) stream.end();
  } catch (error) {
    if (!(error instanceof AnswerCutError)) serving.onError(error);
    if (!stream.destroyed) stream.close(NGHTTP2_INTERNAL_ERROR);
  } finally {
    serving.sinks.delete(sink);
  }
}

/** Ends a stream's writer when its client has disconnected, so that it releases its resources. */
async function runUnheard(response: StreamReply, target: ServerHttp2Stream): Promise<void> {
  const sink = new StreamSink(target);
  sink.close();
  await response.run(sink);
}
