import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Eventual } from "../../process/eventual.ts";
import { isClientGone } from "../../request/client-gone.ts";
import type { HttpResponse, IncomingRequest, Reply } from "../../request/exchange.ts";
import type { Upgrade } from "../listener/serving.ts";
import { StreamSink } from "../listener/stream-sink.ts";

/**
 * Answers requests to upgrade from HTTP, which pass through all filters like others. A 101 hands over the socket. Any
 * other answer closes the connection, because its remaining bytes may belong to the other protocol.
 */
export function serveUpgrades(
  handle: (request: IncomingRequest) => Eventual<HttpResponse>,
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
  handle: (request: IncomingRequest) => Eventual<HttpResponse>,
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
