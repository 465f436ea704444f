import type { ClientHttp2Stream } from "node:http2";
import { type Answer, Client } from "./client.ts";

/** Silence of a server for so long means that it is gone. */
const silenceMs = 3_000;
const backoffMsMin = 20;
const backoffMsMax = 500;

/** No answer: the connection broke, or nothing came in time. What was asked for may have been done. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/**
 * A client with a list of endpoints: it stays with one while that answers, and goes on to the next when a connection
 * breaks, is refused or falls silent. Requests are its user's to repeat.
 */
export class RoamingClient implements Disposable {
  readonly #endpoints: readonly string[];
  readonly #token: string;
  readonly #home: number;
  #at: number;
  #client: Client | undefined;
  #backoffMs = backoffMsMin;

  /** @param at the endpoint to begin with */
  constructor({ endpoints, token, at }: { endpoints: readonly string[]; token: string; at: number }) {
    this.#endpoints = endpoints;
    this.#token = token;
    this.#home = this.#at = at % endpoints.length;
  }

  get endpoint(): string {
    return this.#endpoints[this.#at] ?? "";
  }

  /** @throws NoAnswerError; the next request goes to another endpoint then */
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

  /** A read, asked again until somebody answers; 503 and its like count as an answer. */
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

  /** Back to the endpoint that it began with: those who only flee would gather at one member. */
  goHome(): void {
    if (this.#at === this.#home) return;
    this.#client?.close();
    this.#client = undefined;
    this.#at = this.#home;
  }

  /** There was an answer: the next break is followed by an attempt at once. */
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
    // A server that goes is left before it breaks the connection; what it has begun, it ends.
    if (this.#client?.isOpen === false) this.#advance();
    this.#client ??= new Client({ url: this.endpoint, token: this.#token });
    return this.#client;
  }

  /** Several requests may have been on the connection that broke: the first of them goes on. */
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
