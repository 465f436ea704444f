import { type Answer, Connection, type Endpoint, NoAnswerError, NotSentError } from "./connection.ts";

const requestMsMax = 6_000;

/** A client of one member, over a connection that is reused while it works. */
export class ApiClient implements Disposable {
  readonly #endpoint: Endpoint;
  #connection: Connection | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Makes a request. @throws NotSentError, NoAnswerError */
  async request(
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
    timeoutMs = requestMsMax,
  ): Promise<Answer> {
    if (this.#connection?.isOpen !== true) this.#connection = await Connection.open(this.#endpoint);
    const text = body === undefined ? undefined : JSON.stringify(body);
    return this.#connection.request(method, path, timeoutMs, text, contentType);
  }

  /**
   * Returns the JSON body of a 2xx answer, or undefined for any other result. For questions that are repeated until they
   * succeed.
   */
  async ask(method: string, path: string, body?: unknown, timeoutMs?: number): Promise<unknown> {
    try {
      const answer = await this.request(method, path, body, undefined, timeoutMs);
      if (answer.code < 200 || answer.code > 299) return undefined;
      return answer.body.startsWith("{") ? JSON.parse(answer.body) : answer.body;
    } catch (error) {
      if (error instanceof NotSentError || error instanceof NoAnswerError) return undefined;
      throw error;
    }
  }

  /** Closes the connection. The next request opens a new one. */
  [Symbol.dispose](): void {
    this.#connection?.[Symbol.dispose]();
  }
}
