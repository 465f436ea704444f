import { expect } from "bun:test";
import { type ClientHttp2Session, connect } from "node:http2";
import type { RunningServer, ServerOptions } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";

/** Time after which a silent watch fails its test. Nothing in these tests takes this long. */
const eventWaitMsMax = 20_000;

export interface Answer {
  readonly code: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The body as JSON. Throws if it is not JSON. */
  readonly json: any;
}

export interface RequestOptions {
  /** Bytes and text are sent unchanged, other values as JSON. */
  readonly body?: unknown;
  /** The Content-Type; `application/json` by default, if there is a body. */
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The token; empty for no credentials, the administrator's by default. */
  readonly token?: string;
}

export const jsonPatch = "application/json-patch+json";
export const mergePatch = "application/merge-patch+json";
export const strategicPatch = "application/strategic-merge-patch+json";
export const protobuf = "application/vnd.kubernetes.protobuf";

/**
 * Leaves out controllers that would disturb the tests. Tests count ConfigMaps, their objects may name owners that do not
 * exist, and nothing else may change their services, nodes, pods and budgets.
 */
const quietControllers = [
  "*",
  "-disruption-controller",
  "-endpoints-controller",
  "-endpointslice-controller",
  "-endpointslice-mirroring-controller",
  "-ephemeral-volume-controller",
  "-garbage-collector-controller",
  "-node-lifecycle-controller",
  "-pod-garbage-collector-controller",
  "-root-ca-certificate-publisher-controller",
  "-taint-eviction-controller",
  "-ttl-after-finished-controller",
  "-ttl-controller",
].join();

/** A server on a free port, and a client that trusts it and is its administrator. */
export class TestServer implements AsyncDisposable {
  readonly running: RunningServer;

  private constructor(running: RunningServer) {
    this.running = running;
  }

  static async start(options: ServerOptions = {}): Promise<TestServer> {
    return new TestServer(await startServer({ controllers: quietControllers, ...options }));
  }

  /** Returns a client of a running server. Closing the client closes the server. */
  static of(running: RunningServer): TestServer {
    return new TestServer(running);
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await this.#fetch(method, path, options);
    return answerOf(response);
  }

  get(path: string, options?: RequestOptions): Promise<Answer> {
    return this.request("GET", path, options);
  }

  post(path: string, body: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.request("POST", path, { body, ...options });
  }

  put(path: string, body: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.request("PUT", path, { body, ...options });
  }

  patch(path: string, type: string, body: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.request("PATCH", path, { body, type, ...options });
  }

  delete(path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.request("DELETE", path, { ...(body === undefined ? {} : { body }), ...options });
  }

  /** Sends a POST that must succeed. */
  async create(path: string, body: unknown): Promise<any> {
    const { code, json } = await this.post(path, body);
    expect({ code, message: json.message }).toEqual({ code: 201, message: undefined });
    return json;
  }

  /** Returns the name of a new namespace, which no other test uses. */
  async namespace(): Promise<string> {
    const { metadata } = await this.create("/api/v1/namespaces", { metadata: { generateName: "test-" } });
    return metadata.name;
  }

  /** Returns the server's current revision. */
  async revision(): Promise<string> {
    return (await this.get("/api/v1/nodes")).json.metadata.resourceVersion;
  }

  /** Opens a watch, and resolves with its head. Adds `watch=true`. */
  async watch(path: string, options: RequestOptions = {}): Promise<Watch> {
    const abort = new AbortController();
    const url = `${path}${path.includes("?") ? "&" : "?"}watch=true`;
    const response = await this.#fetch("GET", url, options, abort.signal);
    return new Watch(response, abort);
  }

  http2(): ClientHttp2Session {
    return connect(this.running.url, { ca: this.running.ca });
  }

  async close(): Promise<void> {
    await this.running.close({ graceMs: 1_000 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #fetch(method: string, path: string, options: RequestOptions, signal?: AbortSignal): Promise<Response> {
    const { body, type = "application/json", accept, headers = {}, token = this.running.token } = options;
    return fetch(this.running.url + path, {
      method,
      tls: { ca: this.running.ca },
      decompress: false,
      headers: {
        "user-agent": "integration-test/1.0",
        "accept-encoding": "identity",
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        ...(accept === undefined ? {} : { accept }),
        ...(body === undefined ? {} : { "content-type": type }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: bodyOf(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

function bodyOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array
    ? (body as string | Uint8Array<ArrayBuffer>)
    : JSON.stringify(body);
}

async function answerOf(response: Response): Promise<Answer> {
  const bytes = await response.bytes();
  const text = new TextDecoder().decode(bytes);
  return {
    code: response.status,
    headers: response.headers,
    bytes,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}

export interface WatchEvent {
  readonly type: string;
  readonly object: any;
}

/** The events of one watch in JSON. */
export class Watch implements AsyncDisposable {
  readonly response: Response;
  readonly #abort: AbortController;
  readonly #events: AsyncGenerator<WatchEvent, void>;

  constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.#events = eventsOf(response);
  }

  /** Returns the next event; undefined if the stream has ended cleanly. */
  async next(): Promise<WatchEvent | undefined> {
    const timer = Promise.withResolvers<never>();
    const timeout = setTimeout(() => timer.reject(new Error("no event came")), eventWaitMsMax);
    try {
      const { value } = await Promise.race([this.#events.next(), timer.promise]);
      return value ?? undefined;
    } finally {
      clearTimeout(timeout);
    }
  }

  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`);
      events.push(event);
    }
    return events;
  }

  /** Returns everything up to the clean end of the stream. */
  async rest(): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event);
    return events;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#events.return().catch(() => undefined);
  }
}

async function* eventsOf(response: Response): AsyncGenerator<WatchEvent, void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() as string;
    for (const line of lines) yield JSON.parse(line);
  }
  if (text !== "") throw new Error(`the watch ended inside an event: ${text}`);
}

/** Formats an event as `ADDED a 1`: type, name and resourceVersion. */
export function brief({ type, object }: WatchEvent): string {
  const name = object.metadata?.name;
  return name === undefined ? type : `${type} ${name}`;
}

export function configMap(name: string, more: Record<string, unknown> = {}): any {
  const { labels, data, ...metadata } = more;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ...(labels === undefined ? {} : { labels }), ...metadata },
    ...(data === undefined ? {} : { data }),
  };
}

export function pod(name: string, spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): any {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "main", image: "example.com/main:1" }], ...spec },
  };
}
