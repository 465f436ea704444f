import { cloneJson, equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import type { ServerOptions } from "../../src/index.ts";
import type { TestServer } from "../integration/server.ts";
import { comparableStatus, withoutChosen } from "../vectors/normalised.ts";
import type { FidelityCase, SetupRequest } from "./fidelity-case.ts";
import { comparableAnswer } from "./fidelity-normalised.ts";

/** The flags of the recorded server. */
export const recordedUnder: ServerOptions = {
  authorizationMode: ["Node", "RBAC"],
  enableAdmissionPlugins: ["NodeRestriction"],
  serviceClusterIpRange: "10.0.0.0/16",
  serviceAccountIssuer: ["https://kubernetes.default.svc"],
};

/** Objects that the recording created before its cases, although their setup does not mention them. */
export interface StandingObjects {
  /** Returns the creations in a namespace, which are repeated after each write to it. */
  of(namespace: string): readonly SetupRequest[];
}

const userAgent = "difftest/1.0";
const pollsMax = 200;
/** Enough for the deletion of a namespace, which a controller does. */
const removalMsMax = 30_000;
const removalPollMs = 10;
const namespacePattern = /\/namespaces\/([a-z0-9-]+)/;

/** Replays cases on one server, in order. Cases with the same setup share its objects until one of them really writes. */
export class FidelityRun {
  readonly #server: TestServer;
  readonly #namespaces = new Set<string>(["default", "kube-system", "kube-public", "kube-node-lease"]);
  readonly #values = new Map<string, string>();
  #made: string[] = [];
  #standingRevision = "";
  #shared = "";

  readonly #standing: StandingObjects | undefined;

  /** @param standing objects that cases assume to exist */
  constructor(server: TestServer, standing?: StandingObjects) {
    this.#server = server;
    this.#standing = standing;
  }

  /** Describes how the answer differs; undefined if it does not. */
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
      const namespace = namespacePattern.exec(target)?.[1];
      if (namespace !== undefined && this.#namespaces.has(namespace)) await this.#stand(namespace);
    }
    const want = { code: recorded.code, warnings: [...recorded.warnings], answer: recorded.answer };
    // Only the head of some documents was recorded.
    if (recorded.answer === "-" && got.code === recorded.code) return undefined;
    const isTyped = recorded.contentType === undefined || recorded.contentType === got.contentType;
    const { code, warnings } = got;
    // Recorded texts contain some values that differ between runs.
    const shownWant = { ...want, answer: comparableAnswer(want.answer, generateNameIn(body)) };
    const answer = withoutChosen(got.answer, shownWant.answer);
    if (isTyped && equalJson(comparable(shownWant), comparable({ code, warnings, answer }))) return undefined;
    return `${recorded.area}: ${recorded.title}: ${method} ${target}\n  expected ${shown(shownWant)}\n  actual   ${shown(got)}`;
  }

  /** Removes the objects of the last setup. */
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
    if (this.#standingRevision !== "") this.#values.set("rv", this.#standingRevision);
    for (const step of setup) await this.#setUp(step);
    this.#shared = key;
  }

  async #setUp({ method, target, body, save = {} }: SetupRequest): Promise<void> {
    const path = this.#filled(target);
    const { document: answered } = await this.#send(method, path, body && this.#filled(body), {});
    this.#noteMade(method, path, answered);
    const document = method === "POST" ? await this.#settled(path, answered) : answered;
    const metadata = metadataIn(document);
    if (typeof metadata["resourceVersion"] === "string") this.#values.set("rv", metadata["resourceVersion"]);
    if (typeof metadata["uid"] === "string") this.#values.set("uid", metadata["uid"]);
    for (const [name, place] of Object.entries(save)) {
      const value = place
        .split(".")
        .reduce<JsonValue>((at, part) => (isJsonObject(at) ? (at[part] ?? null) : null), document);
      if (typeof value === "string") this.#values.set(name, value);
    }
  }

  /** Returns a new object, once controllers have set its conditions if the kind has any. */
  async #settled(path: string, document: JsonValue): Promise<JsonValue> {
    const { name } = metadataIn(document);
    if (!settledKinds.some((kind) => path.startsWith(kind)) || typeof name !== "string") return document;
    for (let polls = 0; polls < pollsMax; polls++) {
      const { json } = await this.#server.get(`${path}/${name}`);
      if (isSettled(json)) return json;
      await Bun.sleep(10);
    }
    return document;
  }

  #noteMade(method: string, path: string, document: JsonValue): void {
    const metadata = metadataIn(document);
    if (method === "POST" && typeof metadata["name"] === "string") {
      this.#made.push(`${path.split("?")[0]}/${metadata["name"]}`);
    }
  }

  /** Pods need the service account that every namespace gets. */
  async #ensureNamespace(target: string, own: ReadonlySet<string | undefined>): Promise<void> {
    const name = namespacePattern.exec(target)?.[1];
    if (name === undefined || own.has(name) || !name.startsWith("diff-") || this.#namespaces.has(name)) return;
    this.#namespaces.add(name);
    await this.#server.post("/api/v1/namespaces", { metadata: { name } });
    for (let polls = 0; polls < pollsMax; polls++) {
      if ((await this.#server.get(`/api/v1/namespaces/${name}/serviceaccounts/default`)).code === 200) break;
      await Bun.sleep(10);
    }
    await this.#stand(name);
  }

  /** Recreates the standing objects of a namespace. */
  async #stand(namespace: string): Promise<void> {
    for (const { method, target, body = "" } of this.#standing?.of(namespace) ?? []) {
      const { name = "" } = metadataIn(parsed(body));
      await this.#remove(`${target}/${String(name)}`);
      await this.#send(method, target, body, {});
      this.#standingRevision = await this.#server.revision();
    }
  }

  async #remove(path: string): Promise<void> {
    const end = performance.now() + removalMsMax;
    while (performance.now() < end) {
      const { code } = await this.#server.delete(`${path}?gracePeriodSeconds=0`);
      if (code === 404 || code === 405) return;
      const { json, code: found } = await this.#server.get(path);
      if (found === 404) return;
      if ((json.metadata?.finalizers ?? []).length > 0) {
        await this.#server.patch(path, "application/merge-patch+json", { metadata: { finalizers: null } });
      }
      if (json.kind === "Namespace" && (json.spec?.finalizers ?? []).length > 0) {
        await this.#server.put(`${path}/finalize`, { ...json, spec: { finalizers: [] } });
      }
      await Bun.sleep(removalPollMs);
    }
    throw new Error(`${path} was not removed within ${removalMsMax} ms`);
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

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const settledKinds = [definitions, "/apis/flowcontrol.apiserver.k8s.io/"];

function isSettled(object: JsonObject): boolean {
  const { conditions } = isJsonObject(object["status"]) ? object["status"] : {};
  if (!Array.isArray(conditions) || conditions.length === 0) return false;
  const isEstablished = (condition: JsonValue) =>
    isJsonObject(condition) && condition["type"] === "Established" && condition["status"] === "True";
  return object["kind"] !== "CustomResourceDefinition" || conditions.some(isEstablished);
}

function metadataIn(document: JsonValue): JsonObject {
  return isJsonObject(document) && isJsonObject(document["metadata"]) ? document["metadata"] : {};
}

/** Returns the namespace that a request creates. */
function createdNamespace({ method, target, body }: SetupRequest): string | undefined {
  if (method !== "POST" || target !== "/api/v1/namespaces" || body === undefined) return undefined;
  const document = parsed(body);
  const metadata = metadataIn(document);
  return typeof metadata["name"] === "string" ? metadata["name"] : undefined;
}

function writes({ request: { method, target } }: FidelityCase): boolean {
  return method !== "GET" && method !== "HEAD" && !target.includes("dryRun=All");
}

function generateNameIn(body: string | undefined): string {
  const document = body === undefined ? null : parsed(body);
  const metadata = metadataIn(document);
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
