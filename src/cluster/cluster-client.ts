import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { connectionFailureText } from "../client/connection-failure.ts";
import type { KubeconfigServer, Proof } from "../client/kubeconfig.ts";
import { parseClientUrl } from "./member-address.ts";

/** Answers are a table of members at most; what is longer is none of ours. */
const answerBytesMax = 4 * 1024 * 1024;
/** From the member that was asked to the leader, and on if it changes meanwhile. */
const hopsMax = 4;
/** While a leader is elected, or another change is under way. */
const retryMsMax = 15_000;
const timeoutMsDefault = 70_000;

/** A request that did not succeed. The message is for people, and one line. */
export class ClusterRequestError extends Error {
  override readonly name = "ClusterRequestError";
  /** Of HTTP; undefined when there was no answer. */
  readonly code: number | undefined;
  /** What programs can tell it by: the codes of ClusterError. */
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
  /** `/cluster/…`, or any other path of the API. */
  readonly path: string;
  readonly body?: object | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The administration of a cluster as its clients see it. */
export class ClusterClient {
  readonly url: string;
  readonly #server: KubeconfigServer;

  /** @param url of the member to ask; the one of the kubeconfig by default */
  constructor(server: KubeconfigServer, url: string = server.url) {
    this.#server = server;
    this.url = url.replace(/\/$/, "");
  }

  /** Another member of the same cluster, by what a member says of it. */
  at(url: string): ClusterClient {
    return new ClusterClient(this.#server, parseClientUrl(url));
  }

  /** Whom it trusts, and what it proves itself with. */
  async tls(): Promise<Proof["tls"]> {
    return (await this.#server.proof()).tls;
  }

  /** @throws ClusterRequestError */
  get(path: string, timeoutMs?: number): Promise<JsonObject> {
    return this.tell({ method: "GET", path, timeoutMs });
  }

  /** Goes to the leader where the member that is asked is none, and waits a while for one. @throws ClusterRequestError */
  change(request: ClusterRequest): Promise<JsonObject> {
    return untilAnswered(this.url, (url) => new ClusterClient(this.#server, url).tell(request));
  }

  /** Of this member and no other. @throws ClusterRequestError */
  async tell(request: ClusterRequest): Promise<JsonObject> {
    return readAnswer(await this.#send(request));
  }

  /** @throws ClusterRequestError */
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

/** Redirects are not followed: credentials go where somebody said. @throws ClusterRequestError when there is no answer */
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

/** @throws ClusterRequestError for any answer but a success, and for one that is no JSON object */
export async function readAnswer(response: Response): Promise<JsonObject> {
  const value = parse(await readBounded(response));
  const { status: code } = response;
  if (response.ok && isJsonObject(value)) return value;
  if (response.ok) throw new ClusterRequestError("the answer is no JSON object: is this a quorate server?", { code });
  const { message, details } = isJsonObject(value) ? value : {};
  const { causes, retryAfterSeconds } = isJsonObject(details) ? details : {};
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
 * Asks from member to member until one answers that leads; while there is none, again and again for a while. What may have
 * been done is not asked for twice.
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
  if (code === 404) return "this server is no member of a cluster: it runs in memory, or is not quorate";
  return `the server answers ${code}`;
}
