import http2, { type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import type { Served } from "./process.ts";

const windowBytes = 16 * 1024 * 1024;

export interface Answer {
  readonly code: number;
  readonly body: Buffer;
}

/** One HTTP/2 connection to a server under test; the driver trusts whatever it is. */
export class Client implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly #authorization: string;

  constructor({ url, token }: Pick<Served, "url" | "token">, streamWindowBytes = windowBytes) {
    this.#authorization = `Bearer ${token}`;
    this.#session = http2.connect(url, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: streamWindowBytes },
    });
    this.#session.once("connect", () => this.#session.setLocalWindowSize?.(windowBytes));
    this.#session.on("error", () => {});
  }

  open(method: string, path: string, body?: string, headers: Record<string, string> = {}): ClientHttp2Stream {
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

  request(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const stream = this.open(method, path, body, headers);
    const chunks: Buffer[] = [];
    let code = 0;
    stream.once("response", (headers) => (code = headers[":status"] ?? 0));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.once("end", () => resolve({ code, body: Buffer.concat(chunks) }));
    stream.once("close", () => reject(new Error(`${method} ${path}: the stream closed`)));
    return promise;
  }

  /** Like `request`, for what has to succeed. */
  async expect(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Buffer> {
    const answer = await this.request(method, path, body, headers);
    if (answer.code >= 300)
      throw new Error(`${method} ${path}: ${answer.code} ${answer.body.toString().slice(0, 200)}`);
    return answer.body;
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}
