import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import type { Readable } from "node:stream";
import type { HeaderList } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { answerHead } from "../answer-head.ts";
import { authorityOf, dialErrorText } from "../dial-error.ts";
import { groupedHeaders, headerPairs } from "../header-pairs.ts";
import { requireCertificates } from "../require-certificates.ts";
import type { Endpoint, ServiceResolver } from "../service-endpoints.ts";
import { type IdentityHeaderNames, withIdentity } from "./identity-headers.ts";
import { type RemoteApi, serverNameOf } from "./remote-api.ts";

/** Maximum number of connections to one address. Each carries one request, so a slow client never delays others. */
const connectionsMax = 4_000;
/** Maximum number of idle connections that are kept. */
const idleConnectionsMax = 32;
const keepAliveMs = 30_000;
/** Methods that may be repeated if an idle connection turns out to be closed. */
const repeatableMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export interface BackendRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** Lower-case names. A repeated header has an entry for each value. Host and identity are added. */
  readonly headers: HeaderList;
  /** The body, read at the pace of the backend; undefined for none. */
  readonly body?: Readable | undefined;
  /** The user for whom the backend acts. */
  readonly user: UserInfo;
  /** Aborts the request, even while its answer is being read. */
  readonly signal: AbortSignal;
}

/** An answer whose head has arrived. Redirects are treated like other answers. */
export interface BackendAnswer {
  readonly code: number;
  readonly headers: [string, string][];
  /** The body, at the pace of its reader. It must be read to its end or destroyed. */
  readonly body: IncomingMessage;
}

/** A complete answer. */
export interface BackendDocument {
  readonly code: number;
  readonly headers: [string, string][];
  readonly body: Uint8Array;
}

/** PEM of the client certificate by which backends recognise this server. */
export interface ProxyCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** No connection to the backend could be made. */
export class BackendError extends Error {
  override readonly name = "BackendError";
  /**
   * `unresolved`: the service has no address now. `unusable`: the APIService is not usable in its current form.
   * `unreachable`: there was no answer.
   */
  readonly reason: "unresolved" | "unusable" | "unreachable";

  /** @param message upstream's text */
  constructor(reason: BackendError["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Settings of a TLS connection to a backend. */
export interface BackendTls {
  readonly servername: string;
  readonly rejectUnauthorized: boolean;
  readonly allowPartialTrustChain: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface AggregatedBackendsParts {
  readonly resolve: ServiceResolver;
  /** Called for every connection, because the files may be replaced; undefined for none. */
  readonly proxyClient: () => ProxyCertificate | undefined;
  /** Further headers by which this server identifies users. */
  readonly identityHeaders?: IdentityHeaderNames | undefined;
}

/** Sends requests to the services of APIServices. Connections are reused, and shared by all requests to one address. */
export class AggregatedBackends implements Disposable {
  readonly #parts: AggregatedBackendsParts;
  readonly #agent = new Agent({
    keepAlive: true,
    keepAliveMsecs: keepAliveMs,
    maxSockets: connectionsMax,
    maxFreeSockets: idleConnectionsMax,
  });

  constructor(parts: AggregatedBackendsParts) {
    this.#parts = parts;
  }

  /** Returns the address of a service, which may differ from call to call. @throws BackendError `unresolved` */
  resolve({ namespace, name, port }: RemoteApi): Endpoint {
    try {
      return this.#parts.resolve(namespace, name, port);
    } catch (error) {
      throw new BackendError("unresolved", (error as Error).message);
    }
  }

  /** @throws BackendError `unusable` for unreadable authorities */
  tlsOf(remote: RemoteApi): BackendTls {
    const { authorities, insecure } = remote;
    const client = this.#parts.proxyClient();
    try {
      requireCertificates(authorities);
    } catch (error) {
      throw new BackendError("unusable", (error as Error).message);
    }
    return {
      servername: serverNameOf(remote),
      rejectUnauthorized: !insecure,
      // Go trusts every certificate of a bundle, even if another certificate signed it.
      allowPartialTrustChain: true,
      ...(authorities === undefined ? {} : { ca: authorities }),
      ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
    };
  }

  /** Returns the headers for a backend: the given ones with the identity of the user as the only identity. */
  headersFor(headers: HeaderList, user: UserInfo): [string, string][] {
    return withIdentity(headers, user, this.#parts.identityHeaders);
  }

  /**
   * Sends a request; resolves with the head of the answer.
   * @param at address from `resolve`, where the caller needs to know it
   * @throws BackendError, or the reason of the signal
   */
  async send(remote: RemoteApi, outgoing: BackendRequest, at: Endpoint = this.resolve(remote)): Promise<BackendAnswer> {
    const tls = this.tlsOf(remote);
    const options = { ...tls, ...this.#optionsOf(outgoing, at), agent: this.#agent };
    try {
      return await exchange(options, outgoing);
    } catch (error) {
      outgoing.signal.throwIfAborted();
      // A body may have been read in part.
      const isRepeatable = outgoing.body === undefined && repeatableMethods.has(outgoing.method);
      if (error instanceof StaleConnectionError && isRepeatable) {
        return await exchange({ ...options, agent: false }, outgoing).catch((again: Error) => {
          outgoing.signal.throwIfAborted();
          throw unreachable(again, at);
        });
      }
      throw unreachable(error as Error, at);
    }
  }

  /**
   * Sends a GET and reads the whole answer.
   * @throws BackendError, also for an answer of more than `bytesMax`; or the reason of the signal
   */
  async get(
    remote: RemoteApi,
    outgoing: Omit<BackendRequest, "method" | "body">,
    bytesMax: number,
  ): Promise<BackendDocument> {
    const at = this.resolve(remote);
    const { code, headers, body } = await this.send(remote, { ...outgoing, method: "GET" }, at);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength;
        if (bytes > bytesMax) {
          throw new BackendError("unreachable", `the answer is longer than ${bytesMax} bytes`);
        }
        chunks.push(chunk);
      }
    } catch (error) {
      outgoing.signal.throwIfAborted();
      throw error instanceof BackendError ? error : unreachable(error as Error, at);
    } finally {
      body.destroy();
    }
    return { code, headers, body: Buffer.concat(chunks) };
  }

  /** Closes the connections to an address that have no request, so that the next request makes a new one. */
  forgetIdle({ host, port }: Endpoint): void {
    for (const [name, sockets] of Object.entries(this.#agent.freeSockets)) {
      if (name.startsWith(`${host}:${port}:`)) for (const socket of sockets ?? []) socket.destroy();
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #optionsOf({ method, target, headers, body, user }: BackendRequest, at: Endpoint): RequestOptions {
    let fields: [string, string][];
    try {
      fields = this.headersFor(headers, user);
    } catch (error) {
      throw new BackendError("unreachable", (error as Error).message);
    }
    const grouped = groupedHeaders(fields);
    grouped["host"] = authorityOf(at);
    // Without a length, some methods would send their body without a frame, and the backend would take it for a request.
    if (body !== undefined && grouped["content-length"] === undefined) grouped["transfer-encoding"] = "chunked";
    return { host: at.host, port: at.port, method, path: target, headers: grouped };
  }
}

/** A reused connection was closed before this request had an answer. */
class StaleConnectionError extends Error {}

async function exchange(options: RequestOptions, { body, signal }: BackendRequest): Promise<BackendAnswer> {
  signal.throwIfAborted();
  const sent = request(options);
  const head = answerHead(sent, "secureConnect", signal);
  if (body === undefined) sent.end();
  else pour(body, sent);
  const message = await head.catch((error: Error & { code?: string }) => {
    const isStale = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
    throw isStale ? new StaleConnectionError("EOF") : error;
  });
  return {
    code: message.statusCode ?? 502,
    headers: headerPairs(message.rawHeaders),
    body: message,
  };
}

/** Writes a body at the pace of its reader. An incomplete body ends the request. */
function pour(body: Readable, sent: ClientRequest): void {
  const cut = () => {
    if (!body.readableEnded) sent.destroy(new Error("the request ended before its body was complete"));
  };
  body.once("error", cut);
  body.once("close", cut);
  sent.once("close", () => {
    body.unpipe(sent);
    body.off("close", cut);
  });
  body.pipe(sent);
}

function unreachable(error: Error, at: Endpoint): BackendError {
  if (error instanceof StaleConnectionError) return new BackendError("unreachable", error.message);
  return new BackendError("unreachable", dialErrorText(error, at));
}
