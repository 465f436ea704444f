import type { ClientHttp2Stream } from "node:http2";
import { type Answer, Client } from "./client.ts";

/** Time without an answer after which a server counts as gone. */
const silenceMs = 3_000;
const backoffMsMin = 20;
const backoffMsMax = 500;

/** No answer: the connection broke, or nothing came in time. The request may have been executed. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/**
 * A client with a list of endpoints. It stays with one while that answers, and moves to the next when a connection
 * breaks, is refused or is silent. Repeating requests is up to its user.
 */
export class RoamingClient implements Disposable {
  readonly #endpoints: readonly string[];
  readonly #token: string;
  readonly #home: number;
  #at: number;
  #client: Client | undefined;
  #backoffMs = backoffMsMin;

  /** @param at the endpoint to start with */
  constructor({ endpoints, token, at }: { endpoints: readonly string[]; token: string; at: number }) {
    this.#endpoints = endpoints;
    this.#token = token;
    this.#home = this.#at = at % endpoints.length;
  }

  get endpoint(): string {
    return this.#endpoints[this.#at] ?? "";
  }

  /** @throws NoAnswerError; the next request then goes to another endpoint */
  async request(method: string, path: string, body?: string): Promise<Answer> {
    const client = this.#connected();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${method} ${path}: no answer`)), silenceMs);
    });
    try {
      const answer = await Promise.race([client.request(method, path, body), late]);
      this.works();
      return answer;
    } catch (error) {
      await this.#moveOnFrom(client);
      throw new NoAnswerError((error as Error).message);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads, and repeats the request until there is an answer. A 503 counts as an answer. */
  async read(path: string): Promise<Answer> {
    for (;;) {
      try {
        return await this.request("GET", path);
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error;
      }
    }
  }

  open(path: string): ClientHttp2Stream {
    return this.#connected().open("GET", path);
  }

  /** Returns to the first endpoint. Otherwise all clients would gather at one member. */
  goHome(): void {
    if (this.#at === this.#home) return;
    this.#client?.close();
    this.#client = undefined;
    this.#at = this.#home;
  }

  /** After an answer, the first attempt that follows a break is immediate. */
  works(): void {
    this.#backoffMs = backoffMsMin;
  }

  /** Leaves the current server, which no longer works. */
  async moveOn(): Promise<void> {
    if (this.#client !== undefined) await this.#moveOnFrom(this.#client);
  }

  [Symbol.dispose](): void {
    this.#client?.[Symbol.dispose]();
    this.#client = undefined;
  }

  #connected(): Client {
    // Leave a stopping server before it breaks the connection. It finishes the requests that it has begun.
    if (this.#client?.isOpen === false) this.#advance();
    this.#client ??= new Client({ url: this.endpoint, token: this.#token });
    return this.#client;
  }

  /** Several requests may have been on the broken connection. Only the first one moves on. */
  async #moveOnFrom(client: Client): Promise<void> {
    if (this.#client !== client) return;
    client[Symbol.dispose]();
    this.#advance();
    const delayMs = this.#backoffMs * (0.5 + Math.random());
    this.#backoffMs = Math.min(backoffMsMax, 2 * this.#backoffMs);
    await Bun.sleep(delayMs);
  }

  #advance(): void {
    this.#client = undefined;
    this.#at = (this.#at + 1) % this.#endpoints.length;
  }
}
