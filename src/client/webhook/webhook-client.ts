import type { WebhookClientConfig } from "../../api/types/admissionregistration-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { Deadline } from "../deadline.ts";
import { authorityOf, dialErrorText } from "../dial-error.ts";
import type { UserProof } from "../kubeconfig.ts";
import type { Endpoint, ServiceResolver } from "../service-endpoints.ts";
import { type WebhookAddress, webhookAddress } from "./webhook-address.ts";
import type { WebhookCredentials } from "./webhook-credentials.ts";

/** Limit of the clients that are kept; the least recently used are dropped first. */
const clientsMax = 200;
/** Calls of one webhook at a time. Others wait, so that a webhook that hangs does not take the connections of all. */
const callsMax = 64;
const userAgent = "kube-apiserver-admission";

export interface WebhookCall {
  /** JSON. */
  readonly body: string;
  /** Time left for the call, which is sent to the webhook in whole seconds. */
  readonly timeoutMs: number;
  /** Longer answers are given up. */
  readonly answerBytesMax: number;
  /** Aborts when no caller waits for the answer. */
  readonly signal?: AbortSignal | undefined;
}

export interface WebhookAnswer {
  readonly code: number;
  /** "" without one. */
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** A webhook that can be called. */
export interface Webhook {
  /** @throws WebhookCallError */
  post(call: WebhookCall): Promise<WebhookAnswer>;
}

/** Finds webhooks by their client configuration. */
export interface WebhookFinder {
  /** @throws Error with upstream's text for a configuration that cannot be used, such as a bad CA bundle */
  of(config: WebhookClientConfig): Webhook;
}

/** No answer came. The message is upstream's and quotes neither the request nor a credential. */
export class WebhookCallError extends Error {
  override readonly name = "WebhookCallError";
  readonly reason: "timeout" | "canceled" | "failed";
  /** Time that the webhook had for its answer, without the wait for a place; 0 if it was not called. */
  readonly waitedMs: number;

  constructor(message: string, reason: WebhookCallError["reason"], waitedMs: number) {
    super(message);
    this.reason = reason;
    this.waitedMs = waitedMs;
  }
}

export interface WebhookClientsParts {
  readonly clock: Clock;
  readonly resolve: ServiceResolver;
  readonly credentials: WebhookCredentials;
  /** Hears of every request that was sent. */
  readonly onRequest?: ((request: SentRequest) => void) | undefined;
}

/** One request as its client has seen it. */
export interface SentRequest {
  readonly method: string;
  /** `host:port`. */
  readonly host: string;
  /** Undefined when no answer came. */
  readonly code: number | undefined;
  readonly seconds: number;
  /** Undefined if the call is not measured. */
  readonly requestBytes: number | undefined;
  readonly responseBytes: number | undefined;
}

/** The clients of webhooks, one for each client configuration. */
export class WebhookClients implements WebhookFinder {
  readonly #parts: WebhookClientsParts;
  /** Least recently used first. */
  readonly #clients = new Map<string, WebhookClient>();
  /** Keys by configuration. Every call needs one, and a CA bundle is long. */
  readonly #keys = new WeakMap<WebhookClientConfig, string>();

  constructor(parts: WebhookClientsParts) {
    this.#parts = parts;
  }

  of(config: WebhookClientConfig): Webhook {
    const key = this.#keyOf(config);
    const client = this.#clients.get(key) ?? new WebhookClient(webhookAddress(config), this.#parts);
    this.#clients.delete(key);
    this.#clients.set(key, client);
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > clientsMax && oldest !== undefined) this.#clients.delete(oldest);
    return client;
  }

  #keyOf(config: WebhookClientConfig): string {
    let key = this.#keys.get(config);
    if (key === undefined) {
      key = JSON.stringify([config.url, config.service, config.caBundle]);
      this.#keys.set(config, key);
    }
    return key;
  }
}

/**
 * Calls one webhook over HTTPS. Connections are kept and reused. Redirects are answers like any other: our credentials go
 * where the configuration says.
 */
class WebhookClient implements Webhook {
  readonly #address: WebhookAddress;
  readonly #parts: WebhookClientsParts;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(address: WebhookAddress, parts: WebhookClientsParts) {
    this.#address = address;
    this.#parts = parts;
  }

  async post({ body, timeoutMs, answerBytesMax, signal }: WebhookCall): Promise<WebhookAnswer> {
    const seconds = Math.max(1, Math.ceil(timeoutMs / 1_000));
    const query = `?timeout=${seconds}s`;
    const { clock, credentials } = this.#parts;
    using deadline = new Deadline(clock, timeoutMs, signal);
    let target: Endpoint | undefined;
    let sentMs: number | undefined;
    try {
      const known = credentials.proofFor(this.#address.authority);
      const proof = known instanceof Promise ? await deadline.race(known) : known;
      const entered = this.#enter(deadline.signal);
      if (entered !== undefined) await entered;
      try {
        target = this.#target();
        sentMs = clock.steadyMs();
        const response = await this.#send(target, query, body, proof, deadline.signal);
        // The next call gets a new credential. This one is not repeated: a webhook may have side effects.
        if (response.status === 401) proof.discard?.();
        const answer = {
          code: response.status,
          contentType: response.headers.get("content-type") ?? "",
          body: await readBounded(response, answerBytesMax),
        };
        this.#record(target, sentMs, body, answer);
        return answer;
      } finally {
        this.#leave();
      }
    } catch (error) {
      if (target !== undefined && sentMs !== undefined) this.#record(target, sentMs, body, undefined);
      const prefix = `Post ${JSON.stringify(this.#address.url + query)}: `;
      const failed = (why: string, reason: WebhookCallError["reason"]) =>
        new WebhookCallError(`${prefix}${why}`, reason, sentMs === undefined ? 0 : clock.steadyMs() - sentMs);
      if (signal?.aborted === true) throw failed("context canceled", "canceled");
      if (deadline.signal.aborted) throw failed("context deadline exceeded", "timeout");
      const why = target === undefined ? (error as Error).message : failureText(error as Error, target);
      throw failed(why, "failed");
    }
  }

  #record(target: Endpoint, sentMs: number, body: string, answer: WebhookAnswer | undefined): void {
    const { clock, onRequest } = this.#parts;
    onRequest?.({
      method: "POST",
      host: authorityOf(target),
      code: answer?.code,
      seconds: (clock.steadyMs() - sentMs) / 1_000,
      requestBytes: body.length,
      responseBytes: answer?.body.byteLength,
    });
  }

  #target(): Endpoint {
    const { location } = this.#address;
    if (location.kind === "service") return this.#parts.resolve(location.namespace, location.name, location.port);
    const { hostname, port } = location.url;
    return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 443 : Number(port) };
  }

  #send(target: Endpoint, query: string, body: string, proof: UserProof, signal: AbortSignal): Promise<Response> {
    const { location, url, authority, ca } = this.#address;
    const { authorization, discard: _, ...certificate } = proof;
    const path = url.slice(url.indexOf("/", "https://".length));
    const isService = location.kind === "service";
    const tls = {
      ...(ca === undefined ? {} : { ca }),
      ...certificate,
      ...(isService ? { serverName: `${location.name}.${location.namespace}.svc` } : {}),
      rejectUnauthorized: true,
      // Go trusts every certificate of a bundle, also one that another certificate signed.
      allowPartialTrustChain: true,
    };
    return fetch(`https://${authorityOf(target)}${path}${query}`, {
      method: "POST",
      body,
      signal,
      redirect: "manual",
      decompress: false,
      headers: {
        "content-type": "application/json",
        accept: "application/json, */*",
        "accept-encoding": "identity",
        "user-agent": userAgent,
        ...(isService ? { host: authority } : {}),
        ...(authorization === undefined ? {} : { authorization }),
      },
      tls,
    });
  }

  /** Takes a place among the running calls; undefined without a wait. @throws Error when the deadline comes first */
  #enter(signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    if (this.#running < callsMax) {
      this.#running++;
      return undefined;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => {
      this.#waiting.delete(resolve);
      reject(signal.reason);
    };
    this.#waiting.add(resolve);
    signal.addEventListener("abort", abort, { once: true });
    return promise.finally(() => signal.removeEventListener("abort", abort));
  }

  /** A place passes directly to the call that has waited longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

class AnswerTooLongError extends Error {}

async function readBounded(response: Response, bytesMax: number): Promise<Uint8Array> {
  const declared = response.headers.get("content-length");
  const tooLong = () => new AnswerTooLongError(`the answer is longer than ${bytesMax} bytes`);
  if (Number(declared ?? 0) > bytesMax) {
    await response.body?.cancel();
    throw tooLong();
  }
  // An answer does not get longer than it says. Reading it as a stream would cost as much as the rest of the call.
  if (declared !== null && !response.headers.has("transfer-encoding")) return response.bytes();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw tooLong();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

function failureText(error: Error, target: Endpoint): string {
  return error instanceof AnswerTooLongError ? error.message : dialErrorText(error, target);
}
