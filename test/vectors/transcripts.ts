import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cloneJson, equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import type { ServerOptions } from "../../src/index.ts";
import { TestServer } from "../integration/server.ts";
import type { Replay } from "./replay.ts";
import { comparableStatus, normalised, restored } from "./normalised.ts";

/** One request of a transcript, and what the reference answered. */
interface Step {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly code: number;
  readonly warnings?: readonly string[];
  readonly answer: JsonValue;
  /** Values of the answer that later requests name as `{{name}}`. */
  readonly save?: Readonly<Record<string, string>>;
}
/** The form in which transcripts are recorded. */
interface RecordedStep {
  readonly request: Pick<Step, "method" | "target" | "headers" | "body">;
  readonly response: {
    readonly status: number;
    readonly headers: { readonly Warning?: readonly string[] };
    readonly body: JsonValue;
  };
  readonly save?: Step["save"];
}
interface Transcript {
  readonly title: string;
  /** Exists beforehand; absent or null for objects of the cluster. */
  readonly namespace?: string | null;
  readonly steps: readonly (Step | RecordedStep)[];
}

/** The addresses of Services that the reference had. No controller changed what requests had made. */
export const referenceOptions: ServerOptions = {
  serviceClusterIpRange: "10.0.0.0/16",
  controllers: "*,-clusterrole-aggregation-controller",
};
/** Custom kinds that transcripts use without making them. */
const definitionsPath = join(import.meta.dir, "../fixtures/transcripts/definitions.json");
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const recordedUserAgent = "difftest/1.0";
const accountPollsMax = 100;

/** Sequences of requests, each replayed in order on one server, whose answers are compared with the reference's. */
export async function replayTranscripts(server?: TestServer): Promise<Replay> {
  const target = server ?? (await TestServer.start(referenceOptions));
  const namespaces = new Set<string>();
  for (const definition of JSON.parse(readFileSync(definitionsPath, "utf8")) as JsonObject[]) {
    await target.create(definitions, definition);
  }
  return async (recorded) => {
    const { title, namespace, steps } = recorded as unknown as Transcript;
    if (namespace && !namespaces.has(namespace)) {
      namespaces.add(namespace);
      await makeNamespace(target, namespace);
    }
    const run = new Run(target);
    try {
      for (const [at, recordedStep] of steps.entries()) {
        const step = stepOf(recordedStep);
        const difference = await run.differs(step);
        if (difference !== undefined) return `${title} step ${at}: ${step.method} ${step.target}\n${difference}`;
      }
      return undefined;
    } finally {
      await run.clean();
    }
  };
}

function stepOf(recorded: Step | RecordedStep): Step {
  if (!("request" in recorded)) return recorded;
  const { request, response, save } = recorded;
  const { method, target, body, headers } = request;
  const { status: code, body: answer } = response;
  return {
    method,
    target,
    headers: { "user-agent": recordedUserAgent, ...lowerCase(headers) },
    ...(body === undefined ? {} : { body }),
    code,
    ...(response.headers.Warning === undefined ? {} : { warnings: response.headers.Warning }),
    answer,
    ...(save === undefined ? {} : { save }),
  };
}

function lowerCase(headers: Step["headers"]): Step["headers"] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Pods need the account that every namespace gets. */
async function makeNamespace(server: TestServer, name: string): Promise<void> {
  await server.create("/api/v1/namespaces", { metadata: { name } });
  for (let polls = 0; polls < accountPollsMax; polls++) {
    if ((await server.get(`/api/v1/namespaces/${name}/serviceaccounts/default`)).code === 200) return;
    await Bun.sleep(20);
  }
  throw new Error(`namespace ${name} got no ServiceAccount`);
}

class Run {
  readonly #server: TestServer;
  readonly #saved = new Map<string, string>();
  /** The last GET of each path: as it was recorded, and as it is here. */
  readonly #seen = new Map<string, { readonly recorded: JsonValue; readonly here: JsonValue }>();
  readonly #created = new Set<string>();

  constructor(server: TestServer) {
    this.#server = server;
  }

  async differs(step: Step): Promise<string | undefined> {
    const { method, target, headers } = step;
    const path = target.split("?")[0] as string;
    const body = step.body === undefined ? {} : { body: this.#body(step.body, method, path) };
    const answer = await this.#server.request(method, this.#filled(target), { ...body, headers });
    const here = parsed(answer.text);
    if (isJsonObject(here)) this.#remember(step, path, here);
    const warnings = warningsOf(answer.headers.get("warning"));
    const isSize = typeof step.answer === "string" && /^<[0-9]+ bytes>$/.test(step.answer);
    const shown = isSize ? `<${answer.bytes.byteLength} bytes>` : normalised(cloneJson(here));
    const got = { code: answer.code, warnings, answer: shown };
    const want = { code: step.code, warnings: [...(step.warnings ?? [])], answer: step.answer };
    if (equalJson(comparable(want), comparable(got))) return undefined;
    return `  expected ${JSON.stringify(want)}\n  actual   ${JSON.stringify(got)}`;
  }

  /** Objects of the cluster have the same name in several transcripts. */
  async clean(): Promise<void> {
    for (const path of this.#created) {
      await this.#server.patch(path, "application/merge-patch+json", { metadata: { finalizers: null } });
      await this.#server.delete(`${path}?gracePeriodSeconds=0`);
    }
  }

  #remember({ method, save = {}, answer }: Step, path: string, here: JsonObject): void {
    const metadata = isJsonObject(here["metadata"]) ? here["metadata"] : {};
    if (method === "POST" && typeof metadata["name"] === "string") this.#created.add(`${path}/${metadata["name"]}`);
    if (method === "PATCH") this.#created.add(path.replace(/\/(status|scale|resize|ephemeralcontainers)$/, ""));
    if (method === "GET") this.#seen.set(path, { recorded: answer, here });
    for (const [name, place] of Object.entries(save)) {
      const value = place
        .split(".")
        .reduce<JsonValue>((at, key) => (isJsonObject(at) ? (at[key] ?? null) : null), here);
      if (typeof value === "string") this.#saved.set(name, value);
    }
  }

  #filled(text: string): string {
    return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => this.#saved.get(name) ?? whole);
  }

  /** A PUT sends what a GET has shown: what is allocated there is what this server has allocated. */
  #body(text: string, method: string, path: string): string {
    const filled = this.#filled(text);
    const seen = method === "PUT" ? this.#seen.get(path) : undefined;
    const document = seen === undefined ? null : parsed(filled);
    if (seen === undefined || !isJsonObject(document)) return filled;
    return JSON.stringify(restored(document, seen.recorded, seen.here));
  }
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** `299 - "text"`, and a comma before the next one. */
function warningsOf(header: string | null): string[] {
  return header?.match(/299 - "(?:[^"\\]|\\.)*"/g)?.map(String) ?? [];
}

/** The numbers behind the types of self in messages are made up. */
function withoutNumbers(answer: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(answer).replaceAll(/selfType[0-9]+/g, "selfType")) as JsonValue;
}

function comparable({ code, warnings, answer }: { code: number; warnings: string[]; answer: JsonValue }): JsonObject {
  return { code, warnings: warnings.toSorted(), answer: comparableStatus(withoutNumbers(answer)) };
}
