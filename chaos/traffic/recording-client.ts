import { ApiClient } from "../cluster/api-client.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { type Answer, NoAnswerError, NotSentError } from "../cluster/connection.ts";
import type { FinalObject, History } from "../history/history.ts";
import type { Observed, Outcome, Request } from "../history/operation.ts";
import { bodyOf, observe, path } from "./config-map.ts";

/** An answer, or the reason why there is none. */
export type Reply =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "notSent"; readonly why: string }
  | { readonly kind: "cut"; readonly why: string };

const mergePatch = "application/merge-patch+json";

/** A client of one member at a time that records its requests and answers. */
export class RecordingClient implements Disposable {
  readonly name: string;
  readonly #cluster: Cluster;
  readonly #history: History;
  #client: ApiClient;
  #member: number;

  constructor(name: string, cluster: Cluster, history: History, member: number) {
    this.name = name;
    this.#cluster = cluster;
    this.#history = history;
    this.#member = member;
    this.#client = new ApiClient(cluster.endpointOf(member));
  }

  get member(): number {
    return this.#member;
  }

  moveTo(member: number): void {
    if (member === this.#member) return;
    this.#client[Symbol.dispose]();
    this.#member = member;
    this.#client = new ApiClient(this.#cluster.endpointOf(member));
  }

  async ask(method: string, target: string, body?: unknown, contentType?: string): Promise<Reply> {
    try {
      return { kind: "answer", answer: await this.#client.request(method, target, body, contentType) };
    } catch (error) {
      const why = (error as Error).message;
      if (error instanceof NotSentError) return { kind: "notSent", why };
      if (error instanceof NoAnswerError) return { kind: "cut", why };
      throw error;
    }
  }

  /** Executes and records a request. @returns the observed object, with its elements for a set */
  async perform(key: string, request: Request, elements?: readonly string[]): Promise<Performed> {
    const invokedMs = performance.now();
    const member = this.#member;
    const reply = await this.#send(key, request, elements);
    const returnedMs = performance.now();
    const { outcome, object } = this.#judge(request, reply);
    this.#history.operations.push({ client: this.name, member, key, request, outcome, invokedMs, returnedMs });
    return { outcome, object };
  }

  surprise(what: string): void {
    const { surprises } = this.#history;
    surprises.set(what, (surprises.get(what) ?? 0) + 1);
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }

  #send(key: string, request: Request, elements?: readonly string[]): Promise<Reply> {
    const own = `${path}/${key}`;
    switch (request.verb) {
      case "get":
        return this.ask("GET", own);
      case "create":
        return this.ask("POST", path, bodyOf(key, request, elements));
      case "update":
        return this.ask("PUT", own, bodyOf(key, request, elements));
      case "patch":
        return this.ask("PATCH", own, bodyOf(key, request), mergePatch);
      case "delete":
        return this.ask("DELETE", own, bodyOf(key, request));
    }
  }

  #judge(request: Request, reply: Reply): Performed {
    if (reply.kind === "notSent") return { outcome: { kind: "refused", why: reply.why }, object: undefined };
    if (reply.kind === "cut") return { outcome: { kind: "unknown", why: reply.why }, object: undefined };
    const { code, body } = reply.answer;
    if (code >= 200 && code < 300) {
      const object = request.verb === "delete" ? undefined : observe(JSON.parse(body));
      return { outcome: { kind: "ok", object: object && withoutElements(object) }, object };
    }
    return { outcome: this.#refusal(request, code, body), object: undefined };
  }

  #refusal(request: Request, code: number, body: string): Outcome {
    if (code === 404) return { kind: "absent" };
    if (code === 409) return { kind: request.verb === "create" ? "exists" : "conflict" };
    if (code === 429) return { kind: "refused", why: "429" };
    const why = `${code} ${messageOf(body)}`;
    // A server that does not know the outcome of a write answers 504. Other server errors promise nothing.
    if (code >= 500) {
      if (code !== 504 && code !== 503) this.surprise(`${request.verb}: ${why}`);
      return { kind: "unknown", why };
    }
    this.surprise(`${request.verb}: ${why}`);
    return { kind: "refused", why };
  }
}

export interface Performed {
  readonly outcome: Outcome;
  readonly object: FinalObject | undefined;
}

function withoutElements({ key, uid, revision, value, color }: FinalObject): Observed {
  return { key, uid, revision, value, color };
}

export function messageOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return String(message).slice(0, 200);
  } catch {
    return body.slice(0, 200);
  }
}
