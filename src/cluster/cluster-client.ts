import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { objectOf } from "../api/json-reading.ts";
import { connectionFailureText } from "../client/connection-failure.ts";
import type { KubeconfigServer, Proof } from "../client/kubeconfig.ts";
import { parseClientUrl } from "./member-address.ts";

/** Maximum size of an answer. A real one is at most a table of members. */
const answerBytesMax = 4 * 1024 * 1024;
/** Maximum number of hops from the asked member to the leader, if that changes meanwhile. */
const hopsMax = 4;
/** Time limit for retries during an election or another change. */
const retryMsMax = 15_000;
const timeoutMsDefault = 70_000;

/** A failed request. The message is one line for people. */
export class ClusterRequestError extends Error {
  override readonly name = "ClusterRequestError";
  /** HTTP status code; undefined without an answer. */
  readonly code: number | undefined;
  /** Codes of ClusterError, for programs. */
  readonly reasons: readonly string[];
  readonly leaderUrl: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, failure: Partial<Omit<ClusterRequestError, keyof Error>> = {}) {
    super(message);
    this.code = failure.code;
    this.reasons = failure.reasons ?? [];
    this.leaderUrl = failure.leaderUrl;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

export interface ClusterRequest {
  readonly method: string;
  /** Path of the request: `/cluster/…` or any other path of the API. */
  readonly path: string;
  readonly body?: object | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The administration API of a cluster. */
export class ClusterClient {
  readonly url: string;
  readonly #server: KubeconfigServer;

  /** @param url the member to ask; the kubeconfig's server by default */
  constructor(server: KubeconfigServer, url: string = server.url) {
    this.#server = server;
    this.url = url.replace(/\/$/, "");
  }

  /** Returns a client for another member of the cluster, at a URL that a member reported. */
  at(url: string): ClusterClient {
    return new ClusterClient(this.#server, parseClientUrl(url));
  }

  /** Returns the trusted authorities and the client's own credentials. */
  async tls(): Promise<Proof["tls"]> {
    return (await this.#server.proof()).tls;
  }

  /** Gets a path. @throws ClusterRequestError */
  get(path: string, timeoutMs?: number): Promise<JsonObject> {
    return this.tell({ method: "GET", path, timeoutMs });
  }

  /**
   * Makes a change on the leader. Follows redirections, and waits a while for an election. @throws ClusterRequestError
   */
  change(request: ClusterRequest): Promise<JsonObject> {
    return untilAnswered(this.url, (url) => new ClusterClient(this.#server, url).tell(request));
  }

  /** Makes a request to this member only. @throws ClusterRequestError */
  async tell(request: ClusterRequest): Promise<JsonObject> {
    return readAnswer(await this.#send(request));
  }

  /** Checks that this member is ready. @throws ClusterRequestError, with the status code if it answers otherwise */
  async probe(timeoutMs: number): Promise<void> {
    const { status: code, body } = await this.#send({ method: "GET", path: "/readyz", timeoutMs });
    await body?.cancel();
    // A server that answers 403, for example, works.
    if (code >= 500) throw new ClusterRequestError(`${this.url} is not ready`, { code });
  }

  /** Downloads a path. @throws ClusterRequestError */
  async download(path: string): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#send({ method: "GET", path, timeoutMs: Number.POSITIVE_INFINITY });
    if (!response.ok) await readAnswer(response);
    return response.body ?? (async function* () {})();
  }

  async #send(request: ClusterRequest): Promise<Response> {
    const proof = await this.#server.proof();
    const response = await this.#sendWith(proof, request);
    if (response.status !== 401 || !this.#server.renew(proof)) return response;
    return this.#sendWith(await this.#server.proof(), request);
  }

  #sendWith({ tls, authorization }: Proof, request: ClusterRequest): Promise<Response> {
    const { serverName: _, ...otherTls } = tls;
    return sendJson(this.url, { ...request, authorization, tls: this.url === this.#server.url ? tls : otherTls });
  }
}

export interface JsonRequest extends ClusterRequest {
  readonly authorization: string | undefined;
  readonly tls: Proof["tls"];
}

/**
 * Sends a request. Does not follow redirections, so that credentials only go to the named server. @throws
 * ClusterRequestError without an answer
 */
export async function sendJson(url: string, request: JsonRequest): Promise<Response> {
  const { method, path, body, authorization, tls, timeoutMs = timeoutMsDefault } = request;
  try {
    return await fetch(url + path, {
      method,
      tls,
      redirect: "manual",
      keepalive: false,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(authorization === undefined ? {} : { authorization }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(Number.isFinite(timeoutMs) ? { signal: AbortSignal.timeout(timeoutMs) } : {}),
    });
  } catch (error) {
    throw new ClusterRequestError(`cannot reach ${url}: ${connectionFailureText(error)}`);
  }
}

/** Reads the JSON object of a successful answer. @throws ClusterRequestError for any other answer */
export async function readAnswer(response: Response): Promise<JsonObject> {
  const value = parse(await readBounded(response));
  const { status: code } = response;
  if (response.ok && isJsonObject(value)) return value;
  if (response.ok)
    throw new ClusterRequestError("the answer is not a JSON object: is this a quorate server?", { code });
  const { message, details } = objectOf(value);
  const { causes, retryAfterSeconds } = objectOf(details);
  const known = (Array.isArray(causes) ? causes : []).filter(isJsonObject);
  const leader = known.find(({ reason }) => reason === "leaderUrl")?.["message"];
  throw new ClusterRequestError(typeof message === "string" ? message : httpFailureText(code), {
    code,
    reasons: known.map(({ reason }) => String(reason)),
    leaderUrl: typeof leader === "string" ? leader : undefined,
    retryAfterMs: typeof retryAfterSeconds === "number" ? retryAfterSeconds * 1_000 : undefined,
  });
}

/**
 * Asks one member after another until the leader answers. Retries for a while if there is no leader. Does not repeat a
 * request that may have succeeded.
 */
export async function untilAnswered<T>(url: string, ask: (url: string) => Promise<T>): Promise<T> {
  const endMs = performance.now() + retryMsMax;
  let at = url;
  for (let hops = 0; ; ) {
    try {
      return await ask(at);
    } catch (error) {
      if (!(error instanceof ClusterRequestError)) throw error;
      const { code, leaderUrl, retryAfterMs } = error;
      if (code === 421 && leaderUrl !== undefined && ++hops < hopsMax) {
        at = parseClientUrl(leaderUrl);
        continue;
      }
      if (code !== 503 || retryAfterMs === undefined || performance.now() + retryAfterMs > endMs) throw error;
      await Bun.sleep(retryAfterMs);
    }
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > answerBytesMax) throw new ClusterRequestError(`the answer is longer than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function httpFailureText(code: number): string {
  if (code === 401) return "the credentials are not accepted";
  if (code === 404) return "this server is not a member of a cluster: it runs in memory, or is not quorate";
  return `the server answered ${code}`;
}
