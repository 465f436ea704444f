import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { webSocketTokenPrefix } from "../access/authentication/bearer-token.ts";
import { toBytes } from "../api/codec/byte-text.ts";
import type { FrameEncoder } from "../api/codec/frame-encoder.ts";
import { status } from "../api/status.ts";
import {
  type ByteSink,
  type HeaderList,
  type HttpResponse,
  header,
  headerValues,
  type IncomingRequest,
  type StreamReply,
  type UpgradedSocket,
} from "../request/exchange.ts";
import { WebSocketReader, webSocketFrame } from "./web-socket-frame.ts";

/** A request for a WebSocket (RFC 6455, 4.2.1). */
export interface WebSocketRequest {
  readonly upgraded: UpgradedSocket;
  /** Subprotocols that the client offers, without those that carry a token. */
  readonly protocols: readonly string[];
  readonly accept: string;
}

/** RFC 6455, 1.3: appended to the client's key before it is hashed. */
const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const keyCharacters = 24;
const normalClosure = Uint8Array.of(0x03, 0xe8);
/** Time for a closing client to read the data sent before. */
const closeMsMax = 1_000;

/**
 * Parses a request for a WebSocket. Returns undefined for any other request.
 * @throws StatusError 400 for another version or a malformed key
 */
export function webSocketRequest(request: IncomingRequest): WebSocketRequest | undefined {
  const { upgraded } = request;
  if (upgraded === undefined || (header(request, "upgrade") ?? "").toLowerCase() !== "websocket") return undefined;
  const key = header(request, "sec-websocket-key") ?? "";
  if (header(request, "sec-websocket-version") !== "13") throw status.badRequest("missing or bad WebSocket Version");
  if (key.length !== keyCharacters) throw status.badRequest("mismatch challenge/response");
  const offered = headerValues(request, "sec-websocket-protocol").flatMap((value) => value.split(","));
  return {
    upgraded,
    protocols: offered.map((name) => name.trim()).filter((name) => !name.startsWith(webSocketTokenPrefix)),
    accept: createHash("sha1").update(`${key}${acceptSuffix}`).digest("base64"),
  };
}

/**
 * Returns a response that switches to WebSocket. `run` writes whole frames. Messages of the client are ignored.
 * @param protocol the chosen subprotocol, if any
 */
export function webSocketReply(
  { upgraded: { socket, head }, accept }: WebSocketRequest,
  protocol: string | undefined,
  run: (sink: ByteSink) => Promise<void>,
): HttpResponse {
  return {
    kind: "stream",
    code: 101,
    headers: webSocketHeaders(accept, protocol),
    async run(sink) {
      const reader = new WebSocketReader({
        pong: (payload) => sink.write(webSocketFrame("pong", payload)),
        close: () => answerClose(socket),
      });
      reader.read(head);
      socket.on("data", (chunk: Uint8Array) => reader.read(chunk));
      await run(sink);
      if (socket.writable) socket.end(webSocketFrame("close", normalClosure));
    },
  };
}

/** Returns the headers of the answer that switches to WebSocket. */
export function webSocketHeaders(accept: string, protocol: string | undefined): HeaderList {
  return [
    ["upgrade", "websocket"],
    ["connection", "Upgrade"],
    ["sec-websocket-accept", accept],
    ...(protocol === undefined ? [] : ([["sec-websocket-protocol", protocol]] as const)),
  ];
}

/** RFC 6455, 5.5.1: the answer to a close frame is a close frame. Without it, clients report an error. */
function answerClose(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), closeMsMax);
  socket.once("close", () => clearTimeout(timer));
  socket.end(webSocketFrame("close", normalClosure), () => socket.destroy());
}

/** Returns a response with the body of `stream` as messages, after an empty one. */
export function webSocketStream(asked: WebSocketRequest, stream: StreamReply): HttpResponse {
  const protocol = asked.protocols.find((offered) => binaryProtocols.includes(offered));
  if (protocol === undefined && asked.protocols.length > 0) {
    throw status.badRequest(`requested protocol(s) are not supported: [${asked.protocols.join(" ")}]`);
  }
  const messageOf = (bytes: Uint8Array) =>
    protocol === base64Protocol
      ? webSocketFrame("text", toBytes(Buffer.from(bytes).toString("base64")))
      : webSocketFrame("binary", bytes);
  return webSocketReply(asked, protocol, async (sink) => {
    sink.write(messageOf(new Uint8Array()));
    await stream.run({
      write: (chunk) => sink.write(messageOf(chunk)),
      drained: () => sink.drained(),
      signal: sink.signal,
      get backlogBytes() {
        return sink.backlogBytes;
      },
    });
  });
}

const base64Protocol = "base64.binary.k8s.io";
const binaryProtocols = ["binary.k8s.io", base64Protocol];

/**
 * Returns an encoder whose frames are messages of a WebSocket.
 * @param lengthBytes bytes of the length before each event, which a message does not need
 */
export function webSocketEncoder(
  encoder: FrameEncoder,
  { type, lengthBytes }: { readonly type: "text" | "binary"; readonly lengthBytes: number },
): FrameEncoder {
  const messageOf = (frame: Uint8Array) => webSocketFrame(type, frame.subarray(lengthBytes));
  return {
    ...encoder,
    format: encoder.format === "" ? "" : `websocket ${encoder.format}`,
    event: (event, entry) => messageOf(encoder.event(event, entry)),
    bookmark: (revision, initialEventsEnd) => messageOf(encoder.bookmark(revision, initialEventsEnd)),
    error: (error) => messageOf(encoder.error(error)),
  };
}
