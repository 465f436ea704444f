import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { isClientGone } from "../../request/client-gone.ts";
import type { HttpResponse, IncomingRequest, Reply } from "../../request/exchange.ts";
import type { Upgrade } from "../listener/serving.ts";
import { StreamSink } from "../listener/stream-sink.ts";

/**
 * Answers requests that ask to leave HTTP. They go through the whole server like all others; a 101 hands the socket on,
 * any other answer is written and closes the connection, whose further bytes could mean anything.
 */
export function serveUpgrades(
  handle: (request: IncomingRequest) => Promise<HttpResponse>,
  onError: (error: unknown) => void,
): Upgrade {
  return (request, socket, head, track) => {
    request.upgraded = { socket, head };
    serve(handle, request, socket, track).catch((error) => {
      if (!isClientGone(error, request.signal)) onError(error);
      socket.destroy();
    });
  };
}

async function serve(
  handle: (request: IncomingRequest) => Promise<HttpResponse>,
  request: IncomingRequest,
  socket: Duplex,
  track: Parameters<Upgrade>[3],
): Promise<void> {
  const response = await handle(request);
  const switches = response.kind === "stream" && response.code === 101;
  if (!socket.destroyed) socket.write(headOf(response, switches));
  const sink = new StreamSink(socket);
  using _tracked = track(sink);
  if (socket.destroyed) sink.close();
  if (response.kind === "stream") await response.run(sink);
  else if (request.method !== "HEAD") await writeBody(response, sink);
  if (!switches) socket.end();
}

function headOf({ code, headers }: HttpResponse, switches: boolean): string {
  const lines = headers
    .filter(([name]) => switches || (name !== "connection" && name !== "content-length"))
    .map(([name, value]) => `${name}: ${value}\r\n`);
  const end = switches ? "" : "connection: close\r\n";
  return `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ""}\r\n${lines.join("")}${end}\r\n`;
}

async function writeBody({ body }: Reply, sink: StreamSink): Promise<void> {
  const chunks = body instanceof Uint8Array ? [body] : body;
  for await (const chunk of chunks) if (!sink.write(chunk)) await sink.drained();
}
