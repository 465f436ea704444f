import type { Link } from "./link.ts";
import type { WebSocketConnection } from "./web-socket-connection.ts";

/** Returns the link of a protocol whose bytes travel in the messages of a WebSocket. */
export function tunnelledLink(socket: WebSocketConnection): Link {
  return {
    input: socket.messages(),
    signal: socket.signal,
    write: (bytes) => socket.send("binary", bytes),
  };
}
