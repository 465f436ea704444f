import type { ListenOptions } from "node:net";
import { createServer, type TLSSocket, type TlsOptions } from "node:tls";
import type { ListenerTls } from "../access/certificates/identity.ts";
import type { Eventual } from "../process/eventual.ts";
import { isClientGone } from "../request/client-gone.ts";
import type { HttpResponse, IncomingRequest } from "../request/exchange.ts";
import { authoritiesOf } from "./listener/authority.ts";
import { bind } from "./listener/bind.ts";
import type { Connection } from "./listener/connection.ts";
import { ConnectionPool } from "./listener/connection-pool.ts";
import { createHttp1 } from "./listener/http1.ts";
import { serveHttp2 } from "./listener/http2.ts";
import { defaultLimits, type ListenerLimits } from "./listener/limits.ts";
import { type Authorities, judgePeer } from "./listener/peer-certificate.ts";
import type { Serving, Upgrade } from "./listener/serving.ts";

export type { ListenerLimits } from "./listener/limits.ts";

export interface ListenerOptions {
  readonly host: string;
  /** Port; 0 for any free one. */
  readonly port: number;
  /** Lets other processes listen on the same port. The kernel then distributes the connections. */
  readonly reusePort?: boolean;
  readonly tls: ListenerTls;
  readonly handle: (request: IncomingRequest) => Eventual<HttpResponse>;
  readonly limits?: Partial<ListenerLimits> | undefined;
  /** Called with failures of the server. A client that disconnects is not a failure. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Takes over the socket of an HTTP/1.1 upgrade, and must authenticate and authorize the request itself. */
  readonly upgrade?: Upgrade | undefined;
  /** Called for each connection whose TLS handshake fails. */
  readonly onHandshakeFailed?: (() => void) | undefined;
}

export interface Listener {
  readonly port: number;
  readonly address: string;
  readonly connections: number;
  /**
   * Uses the new certificates for new connections, and keeps open ones. If an authority was removed, its client
   * certificates are no longer valid, nor are those of intermediates, which it may have issued. Connections with such
   * certificates take no more requests and end after the current ones. A connection still in its handshake is closed
   * unless its client certificate, if any, is from an authority that stays.
   */
  reload(tls: ListenerTls): void;
  /** Stops accepting connections, directs clients elsewhere and asks streams to end. Running requests continue. */
  drain(): void;
  /** Drains, waits up to `graceMs` for running requests, then cuts off the others. */
  close(graceMs: number): Promise<void>;
}

/** TLS 1.2 suites without CBC. All suites of TLS 1.3 are acceptable. */
const ciphers = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

const keepAliveMs = 30_000;

/**
 * Listens for HTTP/2 and HTTP/1.1 over TLS on one port. Clients without a valid certificate may connect too;
 * authentication answers them.
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const limits: ListenerLimits = { ...defaultLimits, ...options.limits };
  const onError = (error: unknown) => {
    if (!isClientGone(error)) options.onError?.(error);
  };
  const pool = new ConnectionPool(limits);
  const serving: Serving = {
    limits,
    sinks: pool.sinks,
    get draining() {
      return pool.draining;
    },
    handle: options.handle,
    onError,
    upgrade: options.upgrade,
  };
  let authorities = trustedBy(options.tls);
  const http1 = createHttp1(serving);
  const bySocket = new WeakMap<TLSSocket, Connection<TLSSocket>>();

  const accept = (socket: TLSSocket): Connection<TLSSocket> => {
    const connection = pool.add(socket);
    bySocket.set(socket, connection);
    return connection;
  };

  const server = createServer(tlsOptions(options.tls), (socket) => {
    const connection = bySocket.get(socket) ?? accept(socket);
    if (socket.destroyed) return;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    connection.isShakingHands = false;
    connection.peer = judgePeer(socket, authorities);
    if (connection.hasOldTrust && !isJudgedTheSame(connection, authorities)) return void socket.destroy();
    if (socket.alpnProtocol === "h2") serveHttp2(connection, serving);
    else http1.serve(connection);
    if (pool.draining) connection.finish();
  });
  server.on("connection", (socket) => {
    if (pool.isFull) socket.destroy();
    else accept(socket as TLSSocket);
  });
  server.on("tlsClientError", (_error, socket) => {
    options.onHandshakeFailed?.();
    socket.destroy();
  });

  const { host, port, reusePort = false } = options;
  const at: ListenOptions = { host, port, ...(reusePort ? { reusePort } : {}) };
  const bound = await bind(server, at, { pool, onError });

  const drain = () => {
    if (pool.draining) return;
    server.close();
    pool.drain();
  };

  return {
    port: bound.port,
    address: bound.address,
    get connections() {
      return pool.size;
    },
    reload(tls) {
      server.setSecureContext(tlsOptions(tls));
      const before = authorities;
      authorities = trustedBy(tls);
      const [ids, formerIds] = [idsOf(authorities), idsOf(before)];
      const someGone = !formerIds.isSubsetOf(ids);
      if (!someGone && ids.isSubsetOf(formerIds)) return;
      for (const connection of pool) {
        if (connection.isShakingHands) connection.hasOldTrust = true;
        else if (someGone) refuseUnlessIssuedBy(ids, connection);
      }
    },
    drain,
    async close(graceMs) {
      drain();
      await pool.close(graceMs);
    },
  };
}

function trustedBy({ ca, frontProxyCa }: ListenerTls): Authorities {
  return {
    clients: authoritiesOf(ca.join("\n"), "clients"),
    frontProxies: frontProxyCa === undefined ? undefined : authoritiesOf(frontProxyCa, "front proxies"),
  };
}

function idsOf({ clients, frontProxies = [] }: Authorities): Set<string> {
  return new Set([...clients, ...frontProxies].map(({ id }) => id));
}

/** Reports whether TLS would verify the connection's certificate with the same result under these authorities. */
function isJudgedTheSame({ peer }: Connection, authorities: Authorities): boolean {
  if (peer.kind === "verified") return peer.issuer !== undefined && idsOf(authorities).has(peer.issuer);
  return peer.kind === "none";
}

function refuseUnlessIssuedBy(ids: ReadonlySet<string>, connection: Connection): void {
  const { peer } = connection;
  if (peer.kind !== "verified" || (peer.issuer !== undefined && ids.has(peer.issuer))) return;
  connection.peer = { kind: "rejected", reason: "its authority is no longer trusted" };
  connection.finish();
}

function tlsOptions({ key, cert, ca, frontProxyCa }: ListenerTls): TlsOptions {
  const authorities = frontProxyCa === undefined ? [...ca] : [...ca, frontProxyCa];
  return {
    key,
    cert,
    ca: authorities,
    requestCert: authorities.length > 0,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2", "http/1.1"],
    minVersion: "TLSv1.2",
    ciphers,
  };
}
