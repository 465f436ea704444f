import { createServer } from "node:net";
import type { Eventual } from "../process/eventual.ts";
import { isClientGone } from "../request/client-gone.ts";
import type { HttpResponse, IncomingRequest } from "../request/exchange.ts";
import { bind } from "./listener/bind.ts";
import { ConnectionPool } from "./listener/connection-pool.ts";
import { createHttp1 } from "./listener/http1.ts";
import { defaultLimits, type ListenerLimits } from "./listener/limits.ts";

export interface PlainListenerOptions {
  readonly host: string;
  /** Port; 0 for any free one. */
  readonly port: number;
  readonly handle: (request: IncomingRequest) => Eventual<HttpResponse>;
  readonly limits?: Partial<ListenerLimits> | undefined;
  readonly onError: (error: unknown) => void;
}

export interface PlainListener {
  readonly port: number;
  /** Stops accepting connections, waits up to `graceMs` for running requests, then cuts off the others. */
  close(graceMs: number): Promise<void>;
}

/** Listens for HTTP/1.1 without TLS, for pages that anyone may read. @throws Error if it cannot listen */
export async function listenPlain(options: PlainListenerOptions): Promise<PlainListener> {
  const limits: ListenerLimits = { ...defaultLimits, ...options.limits };
  const pool = new ConnectionPool(limits);
  const onError = (error: unknown) => {
    if (!isClientGone(error)) options.onError(error);
  };
  const http1 = createHttp1({
    limits,
    sinks: pool.sinks,
    get draining() {
      return pool.draining;
    },
    handle: options.handle,
    onError,
    upgrade: undefined,
  });
  const server = createServer((socket) => {
    if (pool.isFull || pool.draining) socket.destroy();
    else http1.serve(pool.add(socket));
  });
  const { port } = await bind(server, { host: options.host, port: options.port }, { pool, onError });
  return {
    port,
    async close(graceMs) {
      server.close();
      pool.drain();
      await pool.close(graceMs);
    },
  };
}
