import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import type { TestServer } from "./server.ts";

/** A request as a node's agent received it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Common name of the client's certificate. */
  readonly client: string;
}

export type AgentAnswer = (request: SeenRequest, response: ServerResponse) => void;
export type AgentUpgrade = (request: SeenRequest, socket: Duplex) => void;

/** A substitute for the agent of a node: TLS with a certificate of its own authority, and answers from the test. */
export class NodeAgent implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  answer: AgentAnswer = (_request, response) => response.end();
  upgrade: AgentUpgrade = (_request, socket) => socket.destroy();
  /** PEM of the authority of its certificate. */
  readonly authority: string;
  readonly #server: Server;
  readonly #sockets = new Map<Duplex, string>();

  private constructor(server: Server, authority: string) {
    this.#server = server;
    this.authority = authority;
    const http = createHttp((message, response) => {
      const chunks: Buffer[] = [];
      message.on("data", (chunk) => chunks.push(chunk));
      message.on("end", () => this.answer(this.#note(message, Buffer.concat(chunks).toString()), response));
    });
    http.on("upgrade", (message, socket) => this.upgrade(this.#note(message, ""), socket));
    server.on("secureConnection", (socket: TLSSocket) => {
      this.#sockets.set(socket, String(socket.getPeerCertificate()?.subject?.CN ?? ""));
      socket.on("error", () => socket.destroy());
      http.emit("connection", socket);
    });
  }

  static async start(host = "127.0.0.1"): Promise<NodeAgent> {
    const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
    const authority = createAuthority({ commonName: "the node itself", ...validity });
    const { certificate, key } = issueCertificate(authority, {
      commonName: "node",
      organizations: [],
      usage: "server",
      dnsNames: ["localhost"],
      ipAddresses: [host],
      ...validity,
    });
    const server = createServer({ cert: certificate, key, requestCert: true, rejectUnauthorized: false });
    const agent = new NodeAgent(server, authority.certificate);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return agent;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Creates a Node with the address of this agent. */
  async register(server: TestServer, name: string, address = "127.0.0.1"): Promise<void> {
    const status = {
      addresses: [{ type: "InternalIP", address }],
      daemonEndpoints: { kubeletEndpoint: { Port: this.port } },
    };
    await server.create("/api/v1/nodes", { metadata: { name }, status });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #note(message: IncomingMessage, body: string): SeenRequest {
    const { method = "", url = "", headers } = message;
    const seen = { method, url, headers, body, client: this.#sockets.get(message.socket) ?? "" };
    this.seen.push(seen);
    return seen;
  }
}
