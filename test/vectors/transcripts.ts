import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cloneJson, equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import { objectOf } from "../../src/api/json-reading.ts";
import type { ServerOptions } from "../../src/index.ts";
import { type Answer, type RequestOptions, TestServer } from "../integration/server.ts";
import { AdmissionHook } from "./admission-hook.ts";
import { comparableStatus, normalised, recordedTable, restored, withoutChosen, yamlInOrder } from "./normalised.ts";
import { leftToChance, type Replay } from "./replay.ts";
import {
  callsWebhooks,
  definedPlural,
  discoveryOf,
  hasLateParameters,
  openApiExtract,
  type Step,
  stepOf,
  type Transcript,
} from "./transcript.ts";

type TextAnswer = Pick<Answer, "code" | "headers" | "text" | "bytes">;

/** The reference's Services at the time. No controller changed the results of requests. */
export const referenceOptions: ServerOptions = {
  serviceClusterIpRange: "10.0.0.0/16",
  controllers: [
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "validatingadmissionpolicy-status-controller",
  ].join(),
};
/** Custom kinds that transcripts use without defining them. */
const definitionsPath = join(import.meta.dir, "../fixtures/transcripts/definitions.json");
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const accountPollsMax = 100;
/** Maximum number of attempts for requests that were repeated until they got their answer. */
const attemptsMax = 200;
const pollMs = 20;
/** Time in which a further event of a watch would arrive. All events exist when it begins. */
const quietMs = 30;
/** The path below which the hook is called. */
const scenario = "transcript";

/** Sequences of requests, each replayed in order on one server. Compares the answers with the reference's. */
export async function replayTranscripts(server?: TestServer): Promise<Replay> {
  const target = server ?? (await TestServer.start(referenceOptions));
  const namespaces = new Set<string>();
  for (const definition of JSON.parse(readFileSync(definitionsPath, "utf8")) as JsonObject[]) {
    await target.create(definitions, definition);
  }
  return async (recorded) => {
    const transcript = recorded as unknown as Transcript;
    const { title, namespace } = transcript;
    if (namespace && !namespaces.has(namespace)) {
      namespaces.add(namespace);
      await makeNamespace(target, namespace);
    }
    await using hook = callsWebhooks(transcript) ? new AdmissionHook() : undefined;
    const steps = transcript.steps.map(stepOf);
    const run = new Run(target, hook, definedPlural(steps));
    try {
      for (const [at, step] of steps.entries()) {
        const difference = await run.differs(step);
        if (difference === undefined) continue;
        if (hasLateParameters(transcript)) return leftToChance;
        return `${title} step ${at}: ${step.method} ${step.target}\n${difference}`;
      }
      return undefined;
    } finally {
      await run.clean();
    }
  };
}

/** Pods need the service account that every namespace gets. */
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
  readonly #hook: AdmissionHook | undefined;
  /** Plural name of the kind that the transcript defines. */
  readonly #plural: string | undefined;
  readonly #saved = new Map<string, string>();
  /** The last GET of each path: as recorded, and as answered here. */
  readonly #seen = new Map<string, { readonly recorded: JsonValue; readonly here: JsonValue }>();
  readonly #created = new Set<string>();

  constructor(server: TestServer, hook: AdmissionHook | undefined, plural: string | undefined) {
    this.#server = server;
    this.#hook = hook;
    this.#plural = plural;
  }

  async differs(step: Step): Promise<string | undefined> {
    for (let attempts = 1; ; attempts++) {
      const difference = await this.#difference(step);
      if (difference === undefined || step.isRepeated !== true || attempts === attemptsMax) return difference;
      await Bun.sleep(pollMs);
    }
  }

  async #difference(step: Step): Promise<string | undefined> {
    const { method, headers } = step;
    const path = step.target.split("?")[0] as string;
    const body = step.body === undefined ? {} : { body: this.#body(step.body, method, path) };
    const target = this.#filled(step.target);
    const options = { ...body, headers };
    const isWatch = /[?&]watch=(1|true)&.*timeoutSeconds=/.test(target);
    const answer = isWatch
      ? await this.#watched(target, options, eventsIn(step.answer))
      : await this.#server.request(method, target, options);
    const document = parsed(answer.text);
    if (isJsonObject(document)) this.#remember(step, path, document);
    const here = this.#shown(answer, step);
    const got: Shown = {
      code: answer.code,
      ...(step.contentType === undefined ? {} : { contentType: answer.headers.get("content-type") ?? "" }),
      warnings: warningsOf(answer.headers.get("warning")),
      answer: this.#comparable(withoutChosen(normalised(cloneJson(here)), step.answer), step, path),
      ...(this.#hook === undefined
        ? {}
        : { reviews: normalised(cloneJson([...this.#hook.takeReviews(scenario)])) as JsonObject[] }),
    };
    const want: Shown = {
      code: step.code,
      ...(step.contentType === undefined ? {} : { contentType: step.contentType }),
      warnings: [...(step.warnings ?? [])],
      answer: this.#comparable(normalised(cloneJson(step.answer)), step, path),
      ...(this.#hook === undefined ? {} : { reviews: step.reviews ?? [] }),
    };
    const found = this.#hook === undefined ? got : this.#hook.anonymous(got as unknown as JsonObject, scenario);
    if (equalJson(comparable(want), comparable(found as unknown as Shown))) return undefined;
    return `  expected ${JSON.stringify(want)}\n  actual   ${JSON.stringify(found)}`;
  }

  /** Reads as many events of a watch as were recorded, and any that follow at once. */
  async #watched(target: string, options: RequestOptions, events: number): Promise<TextAnswer> {
    await using watch = await this.#server.watch(target, options);
    const { status: code, headers } = watch.response;
    const lines: string[] = [];
    for (;;) {
      const event = lines.length < events ? await watch.next() : await Promise.race([watch.next(), Bun.sleep(quietMs)]);
      if (event === undefined) break;
      lines.push(JSON.stringify(event));
    }
    const text = lines.join("\n");
    return { code, headers, text, bytes: Buffer.from(text) };
  }

  /** Returns the answer in the form of the recorded one. */
  #shown(answer: TextAnswer, { answer: recorded, isExtract }: Step): JsonValue {
    // Only the status of some answers is recorded.
    if (recorded === "-") return "-";
    if (isLength(recorded)) return `<${answer.bytes.byteLength} bytes>`;
    if (Array.isArray(recorded)) return answer.text.trimEnd().split("\n").map(parsed);
    const whole = parsed(answer.text);
    return isExtract === true ? openApiExtract(whole, recorded) : whole;
  }

  /** Returns an answer, recorded or of this server, without the parts that may differ. */
  #comparable(answer: JsonValue, step: Step, path: string): JsonValue {
    const isGroup = /^\/apis\/[^/]+\/[^/]+$/.test(path);
    const own = isGroup && this.#plural !== undefined ? discoveryOf(this.#plural, answer) : answer;
    return recordedTable(typeof own === "string" ? yamlInOrder(own) : own, step.answer);
  }

  /** Cluster-scoped objects have the same name in several transcripts. */
  async clean(): Promise<void> {
    for (const path of this.#created) {
      await this.#server.patch(path, "application/merge-patch+json", { metadata: { finalizers: null } });
      await this.#server.delete(`${path}?gracePeriodSeconds=0`);
      if (!path.startsWith(definitions)) continue;
      // The next transcript may define the same kind.
      for (let polls = 0; polls < attemptsMax && (await this.#server.get(path)).code === 200; polls++) {
        await Bun.sleep(pollMs);
      }
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

  /** A PUT sends the content of a GET, with this server's allocated values. */
  #body(text: string, method: string, path: string): string {
    const filled = this.#hook?.addressed(this.#filled(text), scenario) ?? this.#filled(text);
    const seen = method === "PUT" ? this.#seen.get(path) : undefined;
    const document = seen === undefined ? null : parsed(filled);
    if (seen === undefined || !isJsonObject(document)) return filled;
    return JSON.stringify(restored(document, seen.recorded, seen.here));
  }
}

/** Reports whether only the length of a binary answer is recorded. */
function isLength(answer: JsonValue): boolean {
  return typeof answer === "string" && /^<\d+ bytes>$/.test(answer);
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

/** Returns an answer in the form for comparison. */
interface Shown {
  readonly code: number;
  readonly contentType?: string;
  readonly warnings: readonly string[];
  readonly answer: JsonValue;
  readonly reviews?: readonly JsonObject[];
}

function comparable({ code, contentType = "", warnings, answer, reviews = [] }: Shown): JsonObject {
  const inOrder = reviews
    .map(withoutCredential)
    .map(withoutPlaceholders)
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    code,
    contentType,
    warnings: warnings.toSorted(),
    answer: withoutPlaceholders(comparableStatus(answer)),
    reviews: inOrder,
  };
}

/** A review, without the traces of authentication: the reference's caller had a certificate, ours has a token. */
function withoutCredential(review: JsonObject): JsonObject {
  const body = objectOf(review["body"]);
  const request = objectOf(body["request"]);
  const { uid: _uid, extra: _extra, ...userInfo } = objectOf(request["userInfo"]);
  return { ...review, body: { ...body, request: { ...request, userInfo } } };
}

/** The events of a watch were first normalised as text, which takes every uid for a UUID. */
function withoutPlaceholders(value: JsonValue): JsonValue {
  if (typeof value === "string") return value === "<uuid>" ? "<uid>" : value;
  if (Array.isArray(value)) return value.map(withoutPlaceholders);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, part]) => [name, withoutPlaceholders(part)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function eventsIn(answer: JsonValue): number {
  if (Array.isArray(answer)) return answer.length;
  return answer === "" ? 0 : 1;
}
