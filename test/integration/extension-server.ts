import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import { ownAddress } from "./own-address.ts";

export const group = "widgets.example.com";
export const root = `/apis/${group}/v1`;
const namespace = "default";
const name = "widgets";
const port = 443;

/** A request as the extension server received it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case, in order. */
  readonly headers: readonly (readonly [string, string])[];
  /** Common name of the client's certificate; "" if there is none. */
  readonly client: string;
}

/** Answers paths as a test defines them; by default, it serves the discovery of its group version. */
export type ExtensionAnswer = (message: IncomingMessage, response: ServerResponse) => void;

/** A server of the group `widgets.example.com`, with a Service and an APIService that refer to it. */
export class ExtensionServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  answer: ExtensionAnswer = (_message, response) => response.end("{}");
  upgrade: (message: IncomingMessage, socket: Duplex) => void = (_message, socket) => socket.destroy();
  readonly #authority: string;
  readonly #server: Server;
  readonly #sockets = new Map<Duplex, string>();

  private constructor(server: Server, authority: string) {
    this.#server = server;
    this.#authority = authority;
    const http = createHttp((message, response) => {
      this.#note(message);
      if (message.url === root || message.url === `${root}/`) response.end(discovery);
      else this.answer(message, response);
    });
    http.on("upgrade", (message, socket) => {
      this.#note(message);
      this.upgrade(message, socket);
    });
    server.on("secureConnection", (socket: TLSSocket) => {
      this.#sockets.set(socket, String(socket.getPeerCertificate()?.subject?.CN ?? ""));
      socket.on("error", () => socket.destroy());
      socket.once("close", () => this.#sockets.delete(socket));
      http.emit("connection", socket);
    });
  }

  static async start(): Promise<ExtensionServer> {
    const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
    const authority = createAuthority({ commonName: "the extension server's", ...validity });
    const { certificate, key } = issueCertificate(authority, {
      commonName: "extension",
      organizations: [],
      usage: "server",
      dnsNames: [`${name}.${namespace}.svc`],
      ipAddresses: [],
      ...validity,
    });
    const server = createServer({ cert: certificate, key, requestCert: true, rejectUnauthorized: false });
    const extension = new ExtensionServer(server, authority.certificate);
    await extension.listen();
    return extension;
  }

  /** Listens again after `stop`, on the same port. */
  async listen(at = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(at, ownAddress(), resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns the requests, except for those of the server itself. */
  get clients(): readonly SeenRequest[] {
    const own = ["system:kube-aggregator", "system:aggregator"];
    return this.seen.filter(({ headers }) => !headers.some(([, value]) => own.includes(value)));
  }

  /** Returns the objects that refer to it, by the paths at which they are created. */
  objects(): readonly (readonly [path: string, object: object])[] {
    const spec = { ports: [{ name: "https", port, targetPort: this.port }] };
    const slice = {
      metadata: { name: `${name}-a`, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      endpoints: [{ addresses: [ownAddress()], conditions: { ready: true } }],
      ports: [{ name: "https", port: this.port, protocol: "TCP" }],
    };
    return [
      [`/api/v1/namespaces/${namespace}/services`, { metadata: { name }, spec }],
      [`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, slice],
      ["/apis/apiregistration.k8s.io/v1/apiservices", this.apiService()],
    ];
  }

  apiService(more: object = {}): object {
    const spec = {
      group,
      version: "v1",
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace, name, port },
      caBundle: btoa(this.#authority),
      ...more,
    };
    return { metadata: { name: `v1.${group}` }, spec };
  }

  /** Closes all connections, and accepts no more. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets.keys()) socket.destroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.stop();
  }

  #note({ method = "", url = "", rawHeaders, socket }: IncomingMessage): void {
    const headers: [string, string][] = [];
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      headers.push([(rawHeaders[at] as string).toLowerCase(), rawHeaders[at + 1] as string]);
    }
    this.seen.push({ method, url, headers, client: this.#sockets.get(socket) ?? "" });
  }
}

const discovery = JSON.stringify({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: `${group}/v1`,
  resources: [{ name: "widgets", singularName: "widget", namespaced: true, kind: "Widget", verbs: ["get", "list"] }],
});
