import { cloneJson, equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import type { ServerOptions } from "../../src/index.ts";
import type { TestServer } from "../integration/server.ts";
import { comparableStatus } from "../vectors/normalised.ts";
import { comparableAnswer } from "./fidelity-normalised.ts";
import type { FidelityCase, SetupRequest } from "./fidelity-case.ts";

/** The flags that the answers were recorded under. */
export const recordedUnder: ServerOptions = {
  authorizationMode: ["Node", "RBAC"],
  enableAdmissionPlugins: ["NodeRestriction"],
  serviceClusterIpRange: "10.0.0.0/16",
  serviceAccountIssuer: ["https://kubernetes.default.svc"],
};

const userAgent = "difftest/1.0";
const pollsMax = 200;
const removalRoundsMax = 20;
const namespacePattern = /\/namespaces\/([a-z0-9-]+)/;

/**
 * Replays cases against one server, in the order in which they are given. Cases with the same setup share its objects
 * as long as none of them writes for real.
 */
export class FidelityRun {
  readonly #server: TestServer;
  readonly #namespaces = new Set<string>(["default", "kube-system", "kube-public", "kube-node-lease"]);
  readonly #values = new Map<string, string>();
  #made: string[] = [];
  #shared = "";

  constructor(server: TestServer) {
    this.#server = server;
  }

  /** Describes how the answer differs; undefined when it is the same. */
  async differs(recorded: FidelityCase): Promise<string | undefined> {
    await this.#prepare(recorded);
    const { method, target, headers, body } = recorded.request;
    const got = await this.#send(
      method,
      this.#filled(target),
      body === undefined ? undefined : this.#filled(body),
      headers,
    );
    if (writes(recorded)) {
      this.#shared = "";
      this.#noteMade(method, this.#filled(target), got.document);
    }
    const want = { code: recorded.code, warnings: [...recorded.warnings], answer: recorded.answer };
    // For some documents, only the head was recorded.
    if (recorded.answer === "-" && got.code === recorded.code) return undefined;
    const isTyped = recorded.contentType === undefined || recorded.contentType === got.contentType;
    const { code, warnings, answer } = got;
    if (isTyped && equalJson(comparable(want), comparable({ code, warnings, answer }))) return undefined;
    return `${recorded.area}: ${recorded.title}: ${method} ${target}\n  expected ${shown(want)}\n  actual   ${shown(got)}`;
  }

  /** Removes what the last setup has made. */
  async clean(): Promise<void> {
    for (const path of this.#made.toReversed()) await this.#remove(path);
    this.#made = [];
    this.#shared = "";
  }

  async #prepare({ setup, request }: FidelityCase): Promise<void> {
    const own = new Set(setup.map(createdNamespace));
    for (const { target } of [...setup, request]) await this.#ensureNamespace(target, own);
    const key = JSON.stringify(setup);
    if (key === this.#shared) return;
    await this.clean();
    this.#values.clear();
    for (const step of setup) await this.#setUp(step);
    this.#shared = key;
  }

  async #setUp({ method, target, body, save = {} }: SetupRequest): Promise<void> {
    const path = this.#filled(target);
    const { document } = await this.#send(method, path, body && this.#filled(body), {});
    const metadata = isJsonObject(document) && isJsonObject(document["metadata"]) ? document["metadata"] : {};
    this.#noteMade(method, path, document);
    if (typeof metadata["resourceVersion"] === "string") this.#values.set("rv", metadata["resourceVersion"]);
    if (typeof metadata["uid"] === "string") this.#values.set("uid", metadata["uid"]);
    for (const [name, place] of Object.entries(save)) {
      const value = place
        .split(".")
        .reduce<JsonValue>((at, part) => (isJsonObject(at) ? (at[part] ?? null) : null), document);
      if (typeof value === "string") this.#values.set(name, value);
    }
  }

  #noteMade(method: string, path: string, document: JsonValue): void {
    const metadata = isJsonObject(document) && isJsonObject(document["metadata"]) ? document["metadata"] : {};
    if (method === "POST" && typeof metadata["name"] === "string") {
      this.#made.push(`${path.split("?")[0]}/${metadata["name"]}`);
    }
  }

  /** Pods need the account that every namespace gets. */
  async #ensureNamespace(target: string, own: ReadonlySet<string | undefined>): Promise<void> {
    const name = namespacePattern.exec(target)?.[1];
    if (name === undefined || own.has(name) || !name.startsWith("diff-") || this.#namespaces.has(name)) return;
    this.#namespaces.add(name);
    await this.#server.post("/api/v1/namespaces", { metadata: { name } });
    for (let polls = 0; polls < pollsMax; polls++) {
      if ((await this.#server.get(`/api/v1/namespaces/${name}/serviceaccounts/default`)).code === 200) return;
      await Bun.sleep(10);
    }
  }

  async #remove(path: string): Promise<void> {
    for (let round = 0; round < removalRoundsMax; round++) {
      const { code } = await this.#server.delete(`${path}?gracePeriodSeconds=0`);
      if (code === 404 || code === 405) return;
      const { json, code: found } = await this.#server.get(path);
      if (found === 404) return;
      if ((json.metadata?.finalizers ?? []).length > 0) {
        await this.#server.patch(path, "application/merge-patch+json", { metadata: { finalizers: null } });
      }
    }
  }

  async #send(method: string, target: string, body: string | undefined, headers: Readonly<Record<string, string>>) {
    const answer = await this.#server.request(method, target, {
      ...(body === undefined ? {} : { body }),
      headers: { "user-agent": userAgent, ...lowerCased(headers) },
    });
    const document = parsed(answer.text);
    return {
      code: answer.code,
      contentType: answer.headers.get("content-type") ?? "",
      warnings:
        answer.headers
          .get("warning")
          ?.match(/299 - "(?:[^"\\]|\\.)*"/g)
          ?.map(String) ?? [],
      answer: comparableAnswer(cloneJson(document), generateNameIn(body)),
      document,
    };
  }

  #filled(text: string): string {
    return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => this.#values.get(name) ?? whole);
  }
}

/** Returns the namespace that a request makes. */
function createdNamespace({ method, target, body }: SetupRequest): string | undefined {
  if (method !== "POST" || target !== "/api/v1/namespaces" || body === undefined) return undefined;
  const document = parsed(body);
  const metadata = isJsonObject(document) && isJsonObject(document["metadata"]) ? document["metadata"] : {};
  return typeof metadata["name"] === "string" ? metadata["name"] : undefined;
}

function writes({ request: { method, target } }: FidelityCase): boolean {
  return method !== "GET" && method !== "HEAD" && !target.includes("dryRun=All");
}

function generateNameIn(body: string | undefined): string {
  const document = body === undefined ? null : parsed(body);
  const metadata = isJsonObject(document) && isJsonObject(document["metadata"]) ? document["metadata"] : {};
  return typeof metadata["generateName"] === "string" ? metadata["generateName"] : "";
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function comparable({ code, warnings, answer }: { code: number; warnings: string[]; answer: JsonValue }): JsonObject {
  return { code, warnings: warnings.toSorted(), answer: comparableStatus(answer) };
}

function shown(value: object): string {
  const { document: _document, ...rest } = value as Record<string, unknown>;
  return JSON.stringify(rest);
}
