import http2, { type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import type { Served } from "./process.ts";

const windowBytes = 16 * 1024 * 1024;

export interface Answer {
  readonly code: number;
  /** Seconds from a Retry-After header. */
  readonly retryAfter?: number;
  readonly body: Buffer;
}

/** One HTTP/2 connection to a server under test. It trusts any certificate. */
export class Client implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly #authorization: string;
  #leaving = false;

  constructor({ url, token }: Pick<Served, "url" | "token">, streamWindowBytes = windowBytes) {
    this.#authorization = `Bearer ${token}`;
    this.#session = http2.connect(url, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: streamWindowBytes },
    });
    this.#session.once("connect", () => this.#session.setLocalWindowSize?.(windowBytes));
    this.#session.on("error", () => {});
    this.#session.on("goaway", () => (this.#leaving = true));
  }

  open(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers: Record<string, string> = {},
  ): ClientHttp2Stream {
    const stream = this.#session.request(
      {
        ":method": method,
        ":path": path,
        authorization: this.#authorization,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      { endStream: body === undefined },
    );
    stream.on("error", () => {});
    if (body !== undefined) stream.end(body);
    return stream;
  }

  request(method: string, path: string, body?: string | Uint8Array, headers?: Record<string, string>): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const stream = this.open(method, path, body, headers);
    const chunks: Buffer[] = [];
    let code = 0;
    let retryAfter: string | undefined;
    stream.once("response", (headers) => {
      code = headers[":status"] ?? 0;
      retryAfter = headers["retry-after"];
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.once("end", () => {
      if (code === 0) return reject(new Error(`${method} ${path}: the stream ended without an answer`));
      const wait = retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) };
      resolve({ code, ...wait, body: Buffer.concat(chunks) });
    });
    stream.once("close", () => reject(new Error(`${method} ${path}: the stream closed`)));
    return promise;
  }

  /** Makes a request that must succeed. */
  async expect(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers?: Record<string, string>,
  ): Promise<Buffer> {
    const answer = await this.request(method, path, body, headers);
    if (answer.code >= 300)
      throw new Error(`${method} ${path}: ${answer.code} ${answer.body.toString().slice(0, 200)}`);
    return answer.body;
  }

  /** False if it is closed or about to be, because the server takes no new requests. */
  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed && !this.#leaving;
  }

  /** Closes once the current requests have ended. */
  close(): void {
    this.#session.close();
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}
