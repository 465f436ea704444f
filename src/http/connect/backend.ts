import { connect as connectTcp, isIP, type Socket } from "node:net";
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from "node:tls";
import { dialErrorText } from "../../client/dial-error.ts";
import type { HeaderList } from "../../request/exchange.ts";

/** A server to which requests are forwarded. */
export interface Backend {
  readonly protocol: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** The name in the backend's certificate; the host by default. */
  readonly serverName?: string | undefined;
  /** PEM of the authorities that may sign the backend's certificate. If absent, any certificate is accepted. */
  readonly authorities?: string | undefined;
  /** Our certificate and key, PEM; absent if the backend needs none. */
  readonly client?: { readonly certificate: string; readonly key: string } | undefined;
  /** Settings of the connection, which replace `serverName`, `authorities` and `client`. */
  readonly tls?: ConnectionOptions | undefined;
}

/** Timeout of a connection to a backend. */
const dialTimeoutMs = 10_000;

/** Headers that concern only one connection, or that contain the client's credentials for this server. */
const withheldHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const withheldPrefixes = ["impersonate-", "x-remote-"];
/** Browsers cannot set Authorization on a WebSocket. They send the token as a subprotocol. */
const tokenProtocolPrefix = "base64url.bearer.authorization.k8s.io.";

/** Returns the client's headers that a backend may see. */
export function forwardedHeaders(headers: HeaderList): [string, string][] {
  return headers
    .filter(([name]) => !withheldHeaders.has(name) && !withheldPrefixes.some((prefix) => name.startsWith(prefix)))
    .map(([name, value]) => [name, name === "sec-websocket-protocol" ? withoutToken(value) : value]);
}

function withoutToken(protocols: string): string {
  const kept = protocols.split(",").filter((protocol) => !protocol.trim().startsWith(tokenProtocolPrefix));
  return kept.join(",").trim();
}

/** Returns the backend's headers that a client may see. */
export function returnedHeaders(headers: HeaderList): [string, string][] {
  const ours = new Set([
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
  ]);
  return headers.filter(([name]) => !ours.has(name)).map(([name, value]) => [name, value]);
}

/** Returns the TLS settings of a connection to the backend. Pods, and by default nodes, sign their own certificates. */
export function tlsOptions({ host, serverName = host, authorities, client, tls }: Backend): ConnectionOptions {
  if (tls !== undefined) return tls;
  return {
    ...(authorities === undefined
      ? { rejectUnauthorized: false }
      : {
          rejectUnauthorized: true,
          ca: authorities,
          checkServerIdentity: (_host, certificate) => checkServerIdentity(serverName, certificate),
        }),
    ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
    ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
  };
}

/**
 * Opens a connection to the backend.
 * @throws Error with upstream's text
 */
export function dial(backend: Backend): Promise<Socket> {
  const { host, port, protocol } = backend;
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket: Socket =
    protocol === "http"
      ? connectTcp({ host, port })
      : connectTls({ host, port, ALPNProtocols: ["http/1.1"], ...tlsOptions(backend) });
  const timer = setTimeout(() => fail(Object.assign(new Error("time-out"), { code: "ETIMEDOUT" })), dialTimeoutMs);
  const fail = (error: Error) => {
    clearTimeout(timer);
    socket.destroy();
    reject(new Error(dialErrorText(error, backend)));
  };
  socket.once("error", fail);
  socket.once(protocol === "http" ? "connect" : "secureConnect", () => {
    clearTimeout(timer);
    socket.off("error", fail);
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    resolve(socket);
  });
  return promise;
}
