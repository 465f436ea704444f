import type { Socket } from "node:net";
import { Connection } from "./connection.ts";
import type { ListenerLimits } from "./limits.ts";
import type { StreamSink } from "./stream-sink.ts";

const sweepIntervalMsMax = 1_000;

/** The connections of a listener. Neither Node nor Bun enforces timeouts on such sockets, so this does. */
export class ConnectionPool implements Iterable<Connection> {
  /** The streamed responses of all connections. */
  readonly sinks = new Set<StreamSink>();
  readonly #connections = new Set<Connection>();
  readonly #limits: ListenerLimits;
  readonly #sweeper: ReturnType<typeof setInterval>;
  #draining = false;

  constructor(limits: ListenerLimits) {
    this.#limits = limits;
    this.#sweeper = setInterval(() => this.#sweep(), sweepInterval(limits));
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#connections.size;
  }

  get isFull(): boolean {
    return this.#connections.size >= this.#limits.connections;
  }

  get draining(): boolean {
    return this.#draining;
  }

  [Symbol.iterator](): Iterator<Connection> {
    return this.#connections.values();
  }

  add<S extends Socket>(socket: S): Connection<S> {
    const connection = new Connection(socket, this.#limits.handshakeTimeoutMs);
    this.#connections.add(connection);
    socket.once("close", () => this.#connections.delete(connection));
    socket.on("error", () => socket.destroy());
    return connection;
  }

  /** Directs clients elsewhere and asks streams to end. Running requests continue. */
  drain(): void {
    this.#draining = true;
    for (const connection of this.#connections) connection.finish();
    for (const sink of this.sinks) sink.end();
  }

  /** Waits up to `graceMs` for running requests, then cuts off the others. */
  async close(graceMs: number): Promise<void> {
    const end = performance.now() + graceMs;
    while (this.#connections.size > 0 && performance.now() < end) await Bun.sleep(Math.min(10, graceMs));
    clearInterval(this.#sweeper);
    for (const { socket } of this.#connections) socket.destroy();
    this.#connections.clear();
  }

  #sweep(): void {
    const now = performance.now();
    for (const { deadlineMs, socket } of this.#connections) if (deadlineMs <= now) socket.destroy();
  }
}

function sweepInterval({ handshakeTimeoutMs, headersTimeoutMs, idleTimeoutMs, lingerMs }: ListenerLimits): number {
  return Math.min(
    sweepIntervalMsMax,
    Math.max(5, Math.min(handshakeTimeoutMs, headersTimeoutMs, idleTimeoutMs, lingerMs) / 4),
  );
}
