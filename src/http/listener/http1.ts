import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type StatusError, status, type TextError } from "../../api/status.ts";
import { AnswerCutError } from "../../request/answer-cut.ts";
import { ClientGoneError } from "../../request/client-gone.ts";
import type { Reply, StreamReply } from "../../request/exchange.ts";
import { errorReply, faultError, isAnswer } from "../error-response.ts";
import { answer } from "./answer.ts";
import { checkHead } from "./check-head.ts";
import type { Connection } from "./connection.ts";
import { ReceivedRequest, type RequestHead } from "./received-request.ts";
import { hasNoBody, headerFields, knownLength, type Serving } from "./serving.ts";
import { StreamSink } from "./stream-sink.ts";
import { writeBody } from "./write-body.ts";

export interface Http1 {
  /** Serves HTTP/1.1 on a connection whose TLS handshake is done. */
  serve(connection: Connection): void;
}

export function createHttp1(serving: Serving): Http1 {
  const connections = new WeakMap<Duplex, Connection>();
  const { limits } = serving;
  const server: Server = createServer({ maxHeaderSize: limits.headerBytes });
  const connectionOf = (message: IncomingMessage): Connection => {
    const connection = connections.get(message.socket);
    if (connection === undefined) throw new Error("a request without a connection");
    return connection;
  };

  server.on("request", (message, response) => {
    const connection = connectionOf(message);
    // Requests behind the last answer are not read: an ambiguous head may have hidden them in its body.
    if (connection.isFinishing) return;
    connection.begin();
    response.once("close", () => {
      connection.end(limits.idleTimeoutMs);
      if (connection.isFinishing && connection.activeRequests === 0) connection.socket.end();
    });
    serve(message, response, connection, serving).catch((error) => {
      serving.onError(error);
      connection.socket.destroy();
    });
  });
  server.on("upgrade", (message, socket, head) => {
    const connection = connections.get(message.socket) ?? connections.get(socket);
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    if (connection.isFinishing) {
      socket.end();
      return;
    }
    connection.begin();
    upgrade(message, socket, head, connection, serving);
  });
  server.on("connect", (_message, socket) => refuse(socket, status.methodNotAllowed()));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || connections.get(socket)?.isFinishing === true) {
      socket.destroy();
      return;
    }
    const line = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
    socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });

  return {
    serve(connection) {
      connections.set(connection.socket, connection);
      connection.expect(limits.headersTimeoutMs);
      connection.finish = () => {
        connection.isFinishing = true;
        if (connection.activeRequests === 0) connection.socket.end();
      };
      server.emit("connection", connection.socket);
    },
  };
}

function headOf(message: IncomingMessage, connection: Connection): RequestHead {
  const headers: [string, string][] = [];
  const raw = message.rawHeaders;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    headers.push([(raw[at] as string).toLowerCase(), raw[at + 1] as string]);
  }
  return {
    method: message.method ?? "",
    rawPath: message.url ?? "",
    headers,
    peer: connection.peer,
    remoteAddress: connection.remoteAddress,
    httpVersion: "1.1",
  };
}

async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  serving: Serving,
): Promise<void> {
  const head = headOf(message, connection);
  const hasBody = head.headers.some(
    ([name, value]) => name === "transfer-encoding" || (name === "content-length" && value !== "0"),
  );
  const request = new ReceivedRequest(head, hasBody ? message : undefined, serving.limits);
  let finished = false;
  response.once("close", () => {
    if (!finished) request.abort(new ClientGoneError());
  });
  const eventual = answer(request, serving);
  const answered = eventual instanceof Promise ? await eventual : eventual;
  finished = answered.kind === "reply";
  if (response.destroyed || connection.socket.destroyed) {
    if (answered.kind === "stream") await runUnheard(answered, response);
    return;
  }

  const { fields, close } = headerFields(answered.headers);
  const unreadBody = hasBody && !message.complete;
  const closing = close || unreadBody || connection.isFinishing;
  if (closing) {
    fields["connection"] = "close";
    connection.isFinishing = true;
  }
  if (answered.kind === "stream") {
    response.writeHead(answered.code, fields);
    response.flushHeaders();
    if (request.method === "HEAD") return runUnheard(answered, response.end());
    return runStream(answered, response, serving);
  }
  await sendReply(answered, fields, response, request, serving);
  if (!closing) return;
  message.resume();
  response.once("finish", () => {
    if (!unreadBody) connection.socket.end();
    connection.expect(serving.limits.lingerMs);
  });
}

async function sendReply(
  { code, body }: Reply,
  fields: Record<string, string | string[]>,
  response: ServerResponse,
  request: ReceivedRequest,
  serving: Serving,
): Promise<void> {
  const length = knownLength(body);
  if (length !== undefined && !hasNoBody(code)) fields["content-length"] = String(length);
  response.writeHead(code, fields);
  if (request.method === "HEAD" || length === 0 || hasNoBody(code)) {
    response.end();
    return;
  }
  if (body instanceof Uint8Array) {
    response.end(body);
    return;
  }
  await writeBody(response, body, serving.limits.writeStallTimeoutMs);
  response.end();
}

async function runStream(stream: StreamReply, response: ServerResponse, serving: Serving): Promise<void> {
  const sink = new StreamSink(response);
  serving.sinks.add(sink);
  if (serving.draining) sink.end();
  try {
    await stream.run(sink);
    if (!response.destroyed) response.end();
  } catch (error) {
    if (!(error instanceof AnswerCutError)) serving.onError(error);
    response.socket?.destroy();
  } finally {
    serving.sinks.delete(sink);
  }
}

async function runUnheard(stream: StreamReply, response: ServerResponse): Promise<void> {
  const sink = new StreamSink(response);
  sink.close();
  await stream.run(sink);
}

/** Hands over the raw socket. HTTP/2 without TLS is not supported. */
function upgrade(
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  connection: Connection,
  serving: Serving,
): void {
  const request = new ReceivedRequest(headOf(message, connection), undefined, serving.limits);
  socket.once("close", () => request.abort(new ClientGoneError()));
  socket.on("error", () => {});
  try {
    checkHead(request);
    const protocol = (message.headers.upgrade ?? "").toLowerCase();
    if (serving.upgrade === undefined || protocol.startsWith("h2")) {
      throw status.badRequest(`upgrade to ${JSON.stringify(protocol)} is not supported`);
    }
    serving.upgrade(request, socket, head, (sink) => {
      serving.sinks.add(sink);
      if (serving.draining) sink.end();
      return { [Symbol.dispose]: () => serving.sinks.delete(sink) };
    });
  } catch (error) {
    if (!isAnswer(error)) serving.onError(error);
    refuse(socket, isAnswer(error) ? error : faultError("-"));
  }
}

/** Writes an error response on a raw socket and closes it. */
function refuse(socket: Duplex, error: StatusError | TextError): void {
  const { code, headers, body } = errorReply(error);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const length = (body as Uint8Array).byteLength;
  socket.write(`HTTP/1.1 ${code} \r\n${lines}connection: close\r\ncontent-length: ${length}\r\n\r\n`);
  socket.end(body as Uint8Array);
}
