import { connect, type TLSSocket } from "node:tls";
import { ResponseReader } from "./response-reader.ts";

/** The address of a replica's API, and the client's credentials. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly token: string;
}

export interface Answer {
  readonly code: number;
  readonly body: string;
}

/** The request was never sent, so it did not happen. */
export class NotSentError extends Error {}

/** The request was sent without a complete answer, so it may have happened. */
export class NoAnswerError extends Error {}

export const connectMsMax = 2_000;

/**
 * One HTTP/1.1 connection with one request at a time. Other clients repeat a request when a connection breaks, which a
 * history must record, so this client is separate.
 */
export class Connection implements Disposable {
  readonly #socket: TLSSocket;
  readonly #endpoint: Endpoint;
  #reader: ResponseReader | undefined;
  #fail: ((why: string) => void) | undefined;
  #isOpen = true;

  private constructor(socket: TLSSocket, endpoint: Endpoint) {
    this.#socket = socket;
    this.#endpoint = endpoint;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error: Error) => this.#end(error.message));
    socket.on("close", () => this.#end("the connection closed"));
  }

  /** Opens a connection. @throws NotSentError */
  static open(endpoint: Endpoint): Promise<Connection> {
    const { host, port, ca } = endpoint;
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const socket = connect({ host, port, ca, ALPNProtocols: ["http/1.1"] });
    const late = setTimeout(() => refuse(new Error("could not connect in time")), connectMsMax);
    const refuse = ({ message }: Error) => {
      clearTimeout(late);
      socket.destroy();
      reject(new NotSentError(message));
    };
    socket.once("error", refuse);
    socket.once("close", () => refuse(new Error("closed")));
    socket.once("secureConnect", () => {
      clearTimeout(late);
      socket.removeAllListeners();
      resolve(new Connection(socket, endpoint));
    });
    return promise;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Makes a request. @throws NotSentError, NoAnswerError; the connection is unusable after either */
  async request(
    method: string,
    path: string,
    timeoutMs: number,
    body?: string,
    contentType = "application/json",
  ): Promise<Answer> {
    const chunks: Buffer[] = [];
    const code = await this.#exchange(method, path, timeoutMs, (chunk) => chunks.push(chunk), body, contentType);
    return { code, body: Buffer.concat(chunks).toString() };
  }

  /**
   * Passes on each chunk until the server ends the response.
   * @throws NotSentError, NoAnswerError if the response is cut off
   */
  stream(path: string, timeoutMs: number, onChunk: (chunk: Buffer, code: number) => void): Promise<number> {
    return this.#exchange("GET", path, timeoutMs, onChunk);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
    this.#end("the client disconnected");
  }

  #exchange(
    method: string,
    path: string,
    timeoutMs: number,
    onChunk: (chunk: Buffer, code: number) => void,
    body?: string,
    contentType?: string,
  ): Promise<number> {
    if (!this.#isOpen) return Promise.reject(new NotSentError("the connection was closed"));
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const late = setTimeout(() => {
      this.#end("no answer in time");
      this.#socket.destroy();
    }, timeoutMs);
    const settle = () => {
      clearTimeout(late);
      this.#reader = undefined;
      this.#fail = undefined;
    };
    this.#fail = (why) => {
      settle();
      reject(new NoAnswerError(why));
    };
    this.#reader = new ResponseReader(onChunk, (code, keepsOpen) => {
      settle();
      this.#isOpen &&= keepsOpen;
      resolve(code);
    });
    this.#socket.write(this.#head(method, path, body, contentType) + (body ?? ""));
    return promise;
  }

  #head(method: string, path: string, body?: string, contentType?: string): string {
    const { host, port, token } = this.#endpoint;
    const content =
      body === undefined ? "" : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    return `${method} ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${token}\r\naccept: application/json\r\n${content}\r\n`;
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader?.read(chunk);
    } catch (error) {
      this.#end((error as Error).message);
      this.#socket.destroy();
    }
  }

  #end(why: string): void {
    this.#isOpen = false;
    this.#fail?.(why);
  }
}
