import { describe, expect, test } from "bun:test";
import { alwaysAllowAuthorizer } from "../../access/authorization/always-allow.ts";
import type { FlowSchema, PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import type { Eventual } from "../../process/eventual.ts";
import { ClientGoneError } from "../../request/client-gone.ts";
import type { ByteSink, Exchange, Handler, HttpResponse, IncomingRequest } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { FlowControl } from "../flow-control/flow-control.ts";
import { WatchCounts } from "../flow-control/watch-counts.ts";
import type { WorkFacts } from "../flow-control/work-estimate.ts";
import { buildChain } from "./chain.ts";

const apiVersion = "flowcontrol.apiserver.k8s.io/v1";
const objectPath = "/api/v1/namespaces/a/configmaps/x";
const listPath = "/api/v1/configmaps";
const user: UserInfo = { name: "alice", uid: "", groups: ["system:authenticated"], extra: new Map() };
const ok: Handler = () => ({ kind: "reply", code: 200, headers: [], body: new Uint8Array() });

/** A level with one queue, in which two requests may wait, and ten of twenty seats. */
const level: PriorityLevelConfiguration = {
  kind: "PriorityLevelConfiguration",
  apiVersion,
  metadata: { name: "small", uid: "uid-of-level" },
  spec: {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: 5,
      lendablePercent: 0,
      limitResponse: { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 2 } },
    },
  },
};
const schema: FlowSchema = {
  kind: "FlowSchema",
  apiVersion,
  metadata: { name: "for-alice", uid: "uid-of-schema" },
  spec: {
    priorityLevelConfiguration: { name: "small" },
    matchingPrecedence: 100,
    rules: [
      {
        subjects: [{ kind: "User", user: { name: "alice" } }],
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      },
    ],
  },
};

/** A chain with priority and fairness around a handler, and a clock that the test controls. */
class Scene {
  readonly clock = new ManualClock();
  readonly watches = new WatchCounts();
  readonly control: FlowControl;
  readonly #handle: (request: IncomingRequest) => Eventual<HttpResponse>;

  constructor(handler: Handler, facts: Partial<WorkFacts> = {}) {
    this.control = new FlowControl({
      clock: this.clock,
      seats: 20,
      configuration: { version: () => 1, levels: () => [level], schemas: () => [schema] },
      facts: { sizeOf: () => undefined, watchersOf: (info) => this.watches.reachedBy(info), ...facts },
    });
    this.#handle = buildChain(
      {
        clock: this.clock,
        authenticator: { authenticate: () => user },
        authorizer: alwaysAllowAuthorizer,
        flowControl: { control: this.control, watches: this.watches },
      },
      handler,
    );
  }

  get queues() {
    const found = this.control.levels.find(({ name }) => name === "small");
    if (found === undefined) throw new Error("the level is missing");
    return found.queues;
  }

  get counts() {
    return this.control.levels.find(({ name }) => name === "small")?.counts;
  }

  async send(rawPath: string, { method = "GET", signal = new AbortController().signal } = {}): Promise<HttpResponse> {
    const request: IncomingRequest = {
      method,
      rawPath,
      headers: [],
      peer: { kind: "none" },
      remoteAddress: "127.0.0.1",
      httpVersion: "2",
      body: async () => new Uint8Array(),
      signal,
      get isAborted() {
        return signal.aborted;
      },
    };
    signal.addEventListener("abort", () => request.onAbort?.(signal.reason as Error));
    return this.#handle(request);
  }
}

/** A handler whose requests end on command. */
class HeldRequests {
  readonly #ends: ((response: HttpResponse) => void)[] = [];
  readonly exchanges: Exchange[] = [];
  readonly handler: Handler = (exchange) => {
    this.exchanges.push(exchange);
    return new Promise((resolve) => this.#ends.push(resolve));
  };

  get running(): number {
    return this.#ends.length;
  }

  async end(): Promise<void> {
    this.#ends.shift()?.({ kind: "reply", code: 200, headers: [], body: new Uint8Array() });
    await settled();
  }
}

/** Resolves when everything has run that is due in this turn of the event loop and in the next. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const headerOf = ({ headers }: HttpResponse, name: string) => headers.find(([key]) => key === name)?.[1];

function sink(): ByteSink {
  return { write: () => true, drained: async () => {}, backlogBytes: 0, signal: new AbortController().signal };
}

describe("flowControl()", () => {
  test("answers and errors name the schema and the level", async () => {
    const failing = new Scene(() => {
      throw new Error("broken");
    });
    for (const scene of [new Scene(ok), failing]) {
      const response = await scene.send(objectPath);
      expect(headerOf(response, "x-kubernetes-pf-flowschema-uid")).toBe("uid-of-schema");
      expect(headerOf(response, "x-kubernetes-pf-prioritylevel-uid")).toBe("uid-of-level");
      expect(scene.queues.isIdle).toBe(true);
    }
  });

  test("a request waits for a seat, and is served when one is free", async () => {
    const held = new HeldRequests();
    const scene = new Scene(held.handler);
    const responses = Array.from({ length: 12 }, () => scene.send(objectPath));
    await settled();
    expect([held.running, scene.queues.waiting]).toEqual([10, 2]);
    scene.clock.advance(2_000);
    await held.end();
    expect([held.running, scene.queues.waiting]).toEqual([10, 1]);
    expect(held.exchanges.at(-1)?.queuedMs).toBe(2_000);
    expect(held.exchanges.at(0)?.queuedMs).toBeUndefined();
    for (let at = 0; at < 11; at++) await held.end();
    expect((await Promise.all(responses)).map(({ code }) => code)).toEqual(Array(12).fill(200));
    expect(scene.queues.isIdle).toBe(true);
  });

  test("attack 61: beyond the queue, 429 as text with the time after which to try again", async () => {
    const held = new HeldRequests();
    const scene = new Scene(held.handler);
    const running = Array.from({ length: 12 }, () => scene.send(objectPath));
    const response = await scene.send(objectPath);
    expect(response.code).toBe(429);
    expect(headerOf(response, "retry-after")).toBe("1");
    expect(headerOf(response, "content-type")).toBe("text/plain; charset=utf-8");
    expect(headerOf(response, "x-content-type-options")).toBe("nosniff");
    expect(headerOf(response, "x-kubernetes-pf-prioritylevel-uid")).toBe("uid-of-level");
    expect(Buffer.from((response as { body: Uint8Array }).body).toString()).toBe(
      "Too many requests, please try again later.\n",
    );
    while (held.running > 0) await held.end();
    await Promise.all(running);
  });

  test.each([
    ["a quarter of the request's time", objectPath, 15_000],
    ["a quarter of the time that it asks for", `${objectPath}?timeout=8s`, 2_000],
    ["a quarter of the usual time, for a watch", `${listPath}?watch=1`, 15_000],
  ])("a request waits for %s, and then gets a 429", async (_, path, waitMs) => {
    const held = new HeldRequests();
    const scene = new Scene(held.handler);
    const running = Array.from({ length: 10 }, () => scene.send(objectPath));
    await settled();
    const late = scene.send(path);
    await settled();
    scene.clock.advance(waitMs - 1);
    await settled();
    expect(scene.queues.waiting).toBe(1);
    scene.clock.advance(1);
    const response = await late;
    expect([response.code, headerOf(response, "retry-after")]).toEqual([429, "1"]);
    expect(scene.counts).toMatchObject({ timedOut: 1, rejected: 0 });
    expect(scene.queues.waiting).toBe(0);
    while (held.running > 0) await held.end();
    await Promise.all(running);
  });

  test("a client that leaves gives up its place", async () => {
    const held = new HeldRequests();
    const scene = new Scene(held.handler);
    const running = Array.from({ length: 11 }, () => scene.send(objectPath));
    const abort = new AbortController();
    const left = scene.send(objectPath, { signal: abort.signal });
    await settled();
    expect(scene.queues.waiting).toBe(2);
    abort.abort(new ClientGoneError());
    await left;
    expect([scene.queues.waiting, scene.counts?.cancelled]).toEqual([1, 1]);
    while (held.running > 0) await held.end();
    expect(held.exchanges.length).toBe(11);
    await Promise.all(running);
  });

  test("a watch holds its seat until it has sent the state, and counts as a watch until it ends", async () => {
    let end = () => {};
    let exchange: Exchange | undefined;
    const scene = new Scene((given) => {
      exchange = given;
      return { kind: "stream", code: 200, headers: [], run: () => new Promise<void>((resolve) => (end = resolve)) };
    });
    const response = await scene.send(`${listPath}?watch=1`);
    if (response.kind !== "stream") throw new Error("not a stream");
    const run = response.run(sink());
    expect(scene.queues.running).toBe(1);
    exchange?.onStateSent?.();
    expect(scene.queues.isIdle).toBe(true);
    const info = exchange?.info;
    if (info?.kind !== "resource") throw new Error("not a resource");
    expect(scene.watches.reachedBy(info)).toBe(1);
    end();
    await run;
    expect(scene.watches.reachedBy(info)).toBe(0);
  });

  test("a watch without the state gives its seat back when it starts", async () => {
    const scene = new Scene(() => ({ kind: "stream", code: 200, headers: [], run: async () => {} }));
    await scene.send(`${listPath}?watch=1&resourceVersion=5`);
    expect(scene.queues.isIdle).toBe(true);
  });

  test("other long-running requests take no seats and have no headers", async () => {
    const scene = new Scene(ok);
    const response = await scene.send("/api/v1/namespaces/a/pods/x/exec?command=ls", { method: "POST" });
    expect(headerOf(response, "x-kubernetes-pf-flowschema-uid")).toBeUndefined();
    expect(scene.counts?.dispatched).toBe(0);
  });

  describe("a list", () => {
    const sized = { sizeOf: () => ({ objects: 1_000, averageBytes: 200 }) };
    const lazy: Handler = () => ({
      kind: "reply",
      code: 200,
      headers: [],
      body: (async function* () {
        yield new Uint8Array(200_000);
        yield new Uint8Array(200_000);
      })(),
    });

    test("takes seats by its size until its body has been read", async () => {
      const scene = new Scene(lazy, sized);
      const response = await scene.send(listPath);
      expect(scene.queues.seatsInUse).toBe(2);
      for await (const chunk of (response as { body: AsyncIterable<Uint8Array> }).body) {
        expect(chunk.byteLength).toBeGreaterThan(0);
        expect(scene.queues.running).toBe(1);
      }
      expect(scene.queues.isIdle).toBe(true);
    });

    test("gives its seats back when its reader stops", async () => {
      const scene = new Scene(lazy, sized);
      const response = await scene.send(listPath);
      for await (const _ of (response as { body: AsyncIterable<Uint8Array> }).body) break;
      expect(scene.queues.isIdle).toBe(true);
    });

    test("gives its seats back when its client leaves before the first byte", async () => {
      const scene = new Scene(lazy, sized);
      const abort = new AbortController();
      await scene.send(listPath, { signal: abort.signal });
      expect(scene.queues.running).toBe(1);
      abort.abort(new ClientGoneError());
      expect(scene.queues.isIdle).toBe(true);
    });

    test("gives its seats back at the deadline, if nobody reads it", async () => {
      const scene = new Scene(lazy, sized);
      await scene.send(listPath);
      scene.clock.advance(59_999);
      expect(scene.queues.running).toBe(1);
      scene.clock.advance(1);
      expect(scene.queues.isIdle).toBe(true);
    });

    test("keeps no seats for a body that HEAD leaves out", async () => {
      const scene = new Scene(lazy, sized);
      await scene.send(listPath, { method: "HEAD" });
      expect(scene.queues.isIdle).toBe(true);
    });
  });

  test("a write keeps seats until its event has reached the watchers", async () => {
    const scene = new Scene(ok, { watchersOf: () => 20 });
    await scene.send(objectPath, { method: "PUT" });
    expect([scene.queues.running, scene.queues.seatsInUse]).toEqual([0, 2]);
    scene.clock.advance(5);
    expect(scene.queues.isIdle).toBe(true);
  });
});
