import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure, type TLSSocket } from "node:tls";
import type { GrpcTransport } from "./grpc-session.ts";

/** The address of a server: a host and port, or the path of a socket. */
export type ServerAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** Names, authorities and certificates for TLS. */
export interface ServerSecurity {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername: string;
  readonly checkServerIdentity: NonNullable<Parameters<typeof connectSecure>[0]["checkServerIdentity"]>;
}

export interface GrpcSocketEvents {
  received(chunk: Buffer): void;
  /** Called at most once, unless it was closed here. */
  closed(reason: string): void;
}

/** The protocol's name in TLS. */
const protocolName = "h2";

/** A connection to a server. The bytes of one turn of the event loop leave in one write. */
export class GrpcSocket implements GrpcTransport {
  readonly #socket: Socket;
  readonly #events: GrpcSocketEvents;
  #waiting: Uint8Array[] = [];
  #isScheduled = false;
  /** Nothing leaves before the server is known. */
  #isOpen = false;
  #isClosed = false;

  constructor(address: ServerAddress, security: ServerSecurity | undefined, events: GrpcSocketEvents) {
    this.#events = events;
    this.#socket =
      security === undefined
        ? connectPlain(address, () => this.#open())
        : connectSecure({ ...address, ...security, ALPNProtocols: [protocolName] }, () => this.#openSecure());
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (chunk: Buffer) => this.#events.received(chunk));
    this.#socket.on("error", (error: NodeJS.ErrnoException) => this.#fail(error.message || String(error.code)));
    this.#socket.on("close", () => this.#fail("the connection was closed"));
  }

  send(bytes: Uint8Array): void {
    if (this.#isClosed || bytes.byteLength === 0) return;
    this.#waiting.push(bytes);
    if (!this.#isOpen || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = [];
    this.#socket.destroy();
  }

  #open(): void {
    this.#isOpen = true;
    this.#flush();
  }

  #openSecure(): void {
    if ((this.#socket as TLSSocket).alpnProtocol === protocolName) this.#open();
    else this.#fail("the server does not speak HTTP/2");
  }

  #flush(): void {
    this.#isScheduled = false;
    const parts = this.#waiting;
    if (parts.length === 0) return;
    this.#waiting = [];
    this.#socket.write(Buffer.concat(parts));
  }

  #fail(reason: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#events.closed(reason);
  }
}
