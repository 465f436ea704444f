import type { Duplex } from "node:stream";
import type { Clock } from "../../../process/clock.ts";
import type { ByteSink, UpgradedSocket } from "../../../request/exchange.ts";

/** A connection that has left HTTP. */
export interface Link {
  /** The client's bytes, at the pace of the loop. Ends when the client closes, and when the connection breaks. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Aborts when the connection is closed or the endpoint shuts down. */
  readonly signal: AbortSignal;
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
}

export interface LinkOptions {
  readonly clock: Clock;
  /** Time without a byte in either direction, after which the connection is closed. */
  readonly idleTimeoutMs: number;
}

const idleCheckMs = 10_000;
/** Interval of bytes without meaning. Sending them shows that a client is gone whose own bytes wait to be read. */
const heartbeatMs = 10_000;
/** Time for the client to read the rest after we have closed. */
const lingerMs = 30_000;

/**
 * Runs a session on the socket of a request that was answered with 101, and closes the socket afterwards.
 * @param heartbeat a message of the protocol that the client answers or ignores
 */
export async function runOnLink(
  { socket, head }: UpgradedSocket,
  sink: ByteSink,
  { clock, idleTimeoutMs }: LinkOptions,
  heartbeat: Uint8Array,
  run: (link: Link) => Promise<void>,
): Promise<void> {
  let activeMs = clock.steadyMs();
  const touch = () => {
    activeMs = clock.steadyMs();
  };
  using _idle = clock.every(Math.min(idleCheckMs, idleTimeoutMs), () => {
    if (clock.steadyMs() - activeMs >= idleTimeoutMs) socket.destroy();
  });
  using _heart = clock.every(heartbeatMs, () => {
    if (sink.backlogBytes === 0) sink.write(heartbeat);
  });
  try {
    await run({
      input: bytesOf(head, socket, touch),
      signal: sink.signal,
      async write(bytes) {
        touch();
        if (!sink.write(bytes)) await sink.drained();
      },
    });
  } finally {
    close(socket);
  }
}

async function* bytesOf(head: Uint8Array, socket: Duplex, touch: () => void): AsyncGenerator<Uint8Array, void> {
  if (head.byteLength > 0) yield head;
  try {
    // Leaving the loop must not destroy the socket, which may have more to send.
    for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      touch();
      yield chunk;
    }
  } catch {
    // The connection broke, which ends the client's bytes like any other end.
  }
}

function close(socket: Duplex): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  socket.end();
  // The end of the client is only seen if its bytes are read.
  socket.resume();
}
