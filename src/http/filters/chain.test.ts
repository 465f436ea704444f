import { describe, expect, test } from "bun:test";
import { anonymousAuthenticator } from "../../access/authentication/anonymous.ts";
import { AuthenticationFailure, unionAuthenticator } from "../../access/authentication/authenticator.ts";
import { alwaysAllowAuthorizer } from "../../access/authorization/always-allow.ts";
import { noOpinion } from "../../access/authorization/authorizer.ts";
import { status } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import type { RequestRecord } from "../../process/logs.ts";
import { ClientGoneError } from "../../request/client-gone.ts";
import type { ByteSink, Exchange, Handler, HeaderList, HttpResponse, IncomingRequest } from "../../request/exchange.ts";
import { createMetrics } from "../../server/metrics/metrics.ts";
import { requestSeriesMax } from "../../server/metrics/request-series.ts";
import { StoreUnavailableError } from "../../storage/store.ts";
import { Lifecycle } from "../lifecycle.ts";
import { buildChain, type ChainOptions } from "./chain.ts";

class ManualClock implements Clock {
  #now = 1_000;
  readonly #timers = new Set<{ at: number; run: () => void }>();
  nowMs = () => this.#now;
  steadyMs = () => this.#now;
  after(delayMs: number, run: () => void): Disposable {
    const timer = { at: this.#now + delayMs, run };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => this.#timers.delete(timer) };
  }
  every(intervalMs: number, run: () => void): Disposable {
    let timer = this.after(intervalMs, fire);
    const again = () => {
      timer = this.after(intervalMs, fire);
    };
    function fire(): void {
      again();
      run();
    }
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }
  pass(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at <= this.#now && this.#timers.delete(timer)) timer.run();
    }
  }
  get pending(): number {
    return this.#timers.size;
  }
}

const clock = new ManualClock();
const reply = (body = "ok", headers: HeaderList = []): HttpResponse => ({
  kind: "reply",
  code: 200,
  headers,
  body: new TextEncoder().encode(body),
});
const ok: Handler = async () => reply();

function request(rawPath: string, fields: Partial<IncomingRequest> = {}): IncomingRequest {
  return {
    method: "GET",
    rawPath,
    headers: [],
    peer: { kind: "none" },
    remoteAddress: "127.0.0.1",
    httpVersion: "1.1",
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
    isAborted: false,
    ...fields,
  };
}

function chain(handler: Handler, options: Partial<ChainOptions> = {}) {
  return buildChain(
    {
      clock,
      authenticator: unionAuthenticator([], anonymousAuthenticator()),
      authorizer: alwaysAllowAuthorizer,
      newAuditId: () => "id-1",
      ...options,
    },
    handler,
  );
}

const headerOf = (response: HttpResponse, name: string) =>
  response.headers.filter(([key]) => key === name).map(([, value]) => value);

async function textOf(response: HttpResponse): Promise<string> {
  if (response.kind === "stream") throw new Error("a stream");
  const { body } = response;
  return Buffer.concat(body instanceof Uint8Array ? [body] : (body as Uint8Array[])).toString();
}

const refuseAll = unionAuthenticator([
  {
    authenticate() {
      throw new AuthenticationFailure("bad", { decisive: true });
    },
  },
]);

describe("the chain", () => {
  test("a success carries audit id and cache control, and the handler's own cache control wins", async () => {
    const response = await chain(ok)(request("/version"));
    expect(response.headers).toEqual([
      ["audit-id", "id-1"],
      ["cache-control", "no-cache, private"],
    ]);
    const cached = await chain(async () => reply("", [["cache-control", "public"]]))(request("/version"));
    expect(headerOf(cached, "cache-control")).toEqual(["public"]);
  });

  test.each([
    ["abc-1", "abc-1"],
    ["a b", "id-1"],
    ["x\r\ny", "id-1"],
    ["x".repeat(65), "id-1"],
  ])("audit id %p becomes %p", async (given, expected) => {
    const response = await chain(ok)(request("/version", { headers: [["audit-id", given]] }));
    expect(headerOf(response, "audit-id")).toEqual([expected]);
  });

  test("a malformed path is a 400 Status, a bad credential a 401 even for unknown paths", async () => {
    const bad = await chain(ok)(request("/api/a%zz"));
    expect([bad.code, headerOf(bad, "content-type")]).toEqual([400, ["application/json"]]);
    const refused = await chain(ok, { authenticator: refuseAll })(request("/nowhere", { httpVersion: "2" }));
    expect(JSON.parse(await textOf(refused))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
    expect(headerOf(refused, "connection")).toEqual(["close"]);
  });

  test("a request without permission is a 403 before the handler runs", async () => {
    let ran = false;
    const handler: Handler = async () => {
      ran = true;
      return reply();
    };
    const response = await chain(handler, { authorizer: { authorize: async () => noOpinion } })(
      request("/api/v1/foos"),
    );
    expect([response.code, ran, headerOf(response, "x-content-type-options")]).toEqual([403, false, ["nosniff"]]);
    expect(await textOf(response)).toContain('foos is forbidden: User \\"system:anonymous\\" cannot list');
  });

  test("a fault is a 500 Status that does not reveal its cause, and is reported", async () => {
    const faults: unknown[] = [];
    const fault = new Error("secret detail");
    const response = await chain(() => Promise.reject(fault), { onFault: (error) => faults.push(error) })(
      request("/x"),
    );
    expect(response.code).toBe(500);
    expect(await textOf(response)).not.toContain("secret");
    expect(await textOf(response)).toContain("id-1");
    expect(faults).toEqual([fault]);
    const thrown = await chain(() => {
      throw fault;
    })(request("/x"));
    expect(thrown.code).toBe(500);
  });

  test.each([
    ["the reason of the signal", new ClientGoneError()],
    ["an aborted operation", new DOMException("The operation was aborted.", "AbortError")],
    ["a call that was cut short", status.internal("failed calling webhook: context canceled")],
  ])("a client that disconnects is neither a fault nor a 5xx: %s", async (_, thrown) => {
    const faults: unknown[] = [];
    const failed: boolean[] = [];
    const metrics = createMetrics({ isServed: () => true });
    const abort = new AbortController();
    const handle = chain(
      async () => {
        abort.abort(new ClientGoneError());
        throw thrown;
      },
      { metrics, onFault: (error) => faults.push(error), onRequest: (outcome) => failed.push(outcome.failed) },
    );
    expect((await handle(request("/api/v1/pods", { signal: abort.signal }))).code).toBe(499);
    expect([faults, failed]).toEqual([[], [false]]);
    const text = await textOf(await metrics.handle({ request: request("/metrics") } as Exchange));
    expect(text).toMatch(/apiserver_request_total\{.*code="499"\} 1/);
    expect(text).not.toMatch(/code="5/);
  });

  test("a fault after the client has disconnected is still reported", async () => {
    const faults: unknown[] = [];
    const signal = AbortSignal.abort(new ClientGoneError());
    const fault = new TypeError("a mistake of ours");
    const handle = chain(() => Promise.reject(fault), { onFault: (error) => faults.push(error) });
    expect((await handle(request("/api/v1/pods", { signal }))).code).toBe(500);
    expect(faults).toEqual([fault]);
  });

  test("an authorizer that fails is a 500, never an allow", async () => {
    const response = await chain(ok, { authorizer: { authorize: () => Promise.reject(new Error("down")) } })(
      request("/x"),
    );
    expect(response.code).toBe(500);
  });

  test("Retry-After comes from the details, text errors are text, and a Status can have another encoding", async () => {
    const busy = await chain(() => Promise.reject(status.tooManyRequests("slow down", 7)))(request("/x"));
    expect([busy.code, headerOf(busy, "retry-after")]).toEqual([429, ["7"]]);
    const text = await chain(() => Promise.reject(status.pathNotFound()))(request("/x"));
    expect([
      text.code,
      await textOf(text),
      headerOf(text, "content-type"),
      headerOf(text, "x-content-type-options"),
    ]).toEqual([404, "404 page not found\n", ["text/plain; charset=utf-8"], ["nosniff"]]);
    const encodeStatus = () => ({ body: new TextEncoder().encode("kind: Status"), contentType: "application/yaml" });
    const yaml = await chain(() => Promise.reject(status.unauthorized()), { encodeStatus })(request("/x"));
    expect([await textOf(yaml), headerOf(yaml, "content-type")]).toEqual(["kind: Status", ["application/yaml"]]);
  });

  test("warnings become headers on success and on error", async () => {
    const warn = (exchange: Exchange) => exchange.warnings.push('say "hi" \\', "bad\nline", "é", 'say "hi" \\');
    const success = await chain(async (exchange) => {
      warn(exchange);
      return reply();
    })(request("/x"));
    expect(headerOf(success, "warning")).toEqual(['299 - "say \\"hi\\" \\\\"', '299 - "Ã©"']);
    const failure = await chain((exchange) => {
      warn(exchange);
      return Promise.reject(status.badRequest("no"));
    })(request("/x"));
    expect(headerOf(failure, "warning")).toHaveLength(2);
    const long = await chain(async (exchange) => {
      for (let at = 0; at < 30; at++) exchange.warnings.push(`${at} ${"x".repeat(1000)}`);
      return reply();
    })(request("/x"));
    expect(headerOf(long, "warning")).toHaveLength(16);
    expect(headerOf(long, "warning")[0]).toHaveLength(256 + '299 - ""'.length);
  });

  test("in-flight limits answer 429 as text, except for long-running requests and system:masters", async () => {
    const gate = Promise.withResolvers<HttpResponse>();
    const masters = { name: "root", uid: "", groups: ["system:masters"], extra: new Map() };
    let user: typeof masters | undefined;
    const handle = chain(() => gate.promise, {
      maxInFlight: { readOnly: 1, mutating: 1 },
      authenticator: unionAuthenticator([{ authenticate: () => user }], anonymousAuthenticator()),
    });
    const running = [handle(request("/api/v1/pods")), handle(request("/api/v1/pods", { method: "POST" }))];
    await Bun.sleep(0);
    const refused = await handle(request("/api/v1/pods"));
    expect([refused.code, await textOf(refused), headerOf(refused, "retry-after")]).toEqual([
      429,
      "Too many requests, please try again later.\n",
      ["1"],
    ]);
    expect((await handle(request("/api/v1/pods", { method: "DELETE" }))).code).toBe(429);
    running.push(handle(request("/api/v1/pods?watch=1")));
    user = masters;
    running.push(handle(request("/api/v1/pods")));
    gate.resolve(reply());
    expect((await Promise.all(running)).map(({ code }) => code)).toEqual([200, 200, 200, 200]);
    user = undefined;
    expect((await handle(request("/api/v1/pods"))).code).toBe(200);
  });

  test.each([
    ["/api/v1/pods", 60_000],
    ["/api/v1/pods?timeout=10s", 10_000],
    ["/api/v1/pods?timeout=10h", 60_000],
    ["/api/v1/pods?timeout=0", 60_000],
    ["/api/v1/pods?timeout=1m0.5s", 60_000],
  ])("%s ends with 504 after %d ms", async (target, limit) => {
    let aborted: Error | undefined;
    const pending = chain(() => new Promise(() => {}))(request(target, { abort: (reason) => (aborted = reason) }));
    await Bun.sleep(0);
    clock.pass(limit - 1);
    await Bun.sleep(0);
    expect(aborted).toBeUndefined();
    clock.pass(1);
    const response = await pending;
    expect(response.code).toBe(504);
    expect(JSON.parse(await textOf(response))).toMatchObject({
      reason: "Timeout",
      message: "Timeout: request did not complete within the allotted timeout",
    });
    expect(aborted).toBeDefined();
    expect(clock.pending).toBe(0);
  });

  test("a write whose outcome is unknown is a 504 without retry-after", async () => {
    const failing: Handler = () => Promise.reject(new StoreUnavailableError("the disk is gone"));
    const response = await chain(failing)(request("/api/v1/pods"));
    expect([response.code, headerOf(response, "retry-after")]).toEqual([504, []]);
    expect(await textOf(response)).not.toContain("disk");
  });

  test("a malformed timeout is a 400, and a watch has no deadline", async () => {
    const response = await chain(ok)(request("/api/v1/pods?timeout=soon"));
    expect(response.code).toBe(400);
    expect(await textOf(response)).toContain("invalid timeout specified in the request URL - ");
    await chain(async () => {
      expect(clock.pending).toBe(0);
      return reply();
    })(request("/api/v1/pods?watch=1&timeout=soon"));
  });

  test("while shutting down new requests are sent elsewhere, health and metrics are served", async () => {
    const lifecycle = new Lifecycle();
    const handle = chain(ok, { lifecycle });
    const codes = async () =>
      Promise.all(
        ["/api/v1/pods", "/livez", "/readyz/ping", "/metrics"].map(async (at) => (await handle(request(at))).code),
      );
    lifecycle.advance("leaving");
    expect(await codes()).toEqual([200, 200, 200, 200]);
    lifecycle.advance("removed");
    expect(await codes()).toEqual([503, 200, 200, 200]);
    lifecycle.advance("refusing");
    expect(await codes()).toEqual([429, 200, 200, 200]);
    const refused = await handle(request("/x"));
    expect([headerOf(refused, "retry-after"), headerOf(refused, "connection")]).toEqual([["5"], ["close"]]);
    lifecycle.advance("stopped");
    lifecycle.advance("serving");
    const stopped = await handle(request("/x"));
    expect([stopped.code, headerOf(stopped, "retry-after")]).toEqual([503, ["1"]]);
  });

  test("the log gets one record per request, a stream's when it ends, and never the query", async () => {
    const records: RequestRecord[] = [];
    const stream: Handler = async () => ({ kind: "stream", code: 200, headers: [], run: async () => {} });
    const watched = await chain(stream, { onRequest: (_outcome, record) => records.push(record()) })(
      request("/apis/apps/v1/namespaces/n/deployments?watch=1&x=secret", { headers: [["user-agent", "kubectl/1"]] }),
    );
    expect(records).toEqual([]);
    if (watched.kind === "stream") await watched.run({} as ByteSink);
    expect(records).toEqual([
      {
        auditId: "id-1",
        method: "GET",
        path: "/apis/apps/v1/namespaces/n/deployments",
        verb: "watch",
        resource: "deployments.apps",
        namespace: "n",
        name: "",
        user: "system:anonymous",
        remoteAddress: "127.0.0.1",
        userAgent: "kubectl/1",
        httpVersion: "1.1",
        code: 200,
        latencyMs: 0,
      },
    ]);
  });
});

describe("metrics", () => {
  test("requests are counted by verb, resource and code; names that are not served never become labels", async () => {
    const metrics = createMetrics({ isServed: ({ resource }) => resource === "pods" });
    const handle = chain(ok, { metrics });
    await handle(request("/api/v1/namespaces/n/pods/p"));
    await handle(
      request("/api/v1/namespaces/n/pods/p", {
        method: "PATCH",
        headers: [["content-type", "application/apply-patch+yaml"]],
      }),
    );
    await handle(request("/api/v1/evil"));
    await handle(request("/evil", { method: "EVIL" }));
    metrics.watchEvents({ group: "", version: "v1", resource: "pods" }, 1, 2000);
    const response = await metrics.handle({ request: request("/metrics") } as Exchange);
    const text = await textOf(response);
    expect(text).toContain(
      'apiserver_request_total{verb="GET",dry_run="",group="",version="v1",resource="pods",subresource="",scope="resource",component="apiserver",code="200"} 1',
    );
    expect(text).toContain('apiserver_request_total{verb="APPLY"');
    expect(text).toContain("# TYPE apiserver_request_duration_seconds histogram");
    expect(text).toMatch(/apiserver_request_duration_seconds_bucket\{verb="GET".*resource="pods".*,le="60"\} 1/);
    expect(text).toMatch(/apiserver_response_sizes_sum\{verb="GET".*resource="pods".*\} 2/);
    expect(text).toMatch(/apiserver_watch_events_sizes_bucket\{.*le="1024"\} 0\n.*le="2048"\} 1/);
    expect(text).toContain('apiserver_watch_events_total{group="",version="v1",resource="pods"} 1');
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 0');
    expect(text).not.toContain("evil");
    expect(text).not.toContain("EVIL");
  });

  test("a running watch is a gauge", async () => {
    const metrics = createMetrics({ isServed: () => true });
    const { promise, resolve } = Promise.withResolvers<void>();
    const watched = await chain(async () => ({ kind: "stream", code: 200, headers: [], run: () => promise }), {
      metrics,
    })(request("/api/v1/pods?watch=1"));
    const value = async () =>
      (await textOf(await metrics.handle({ request: request("/metrics") } as Exchange))).match(
        /longrunning_requests\{.*\} (\d)/,
      )?.[1];
    const run = watched.kind === "stream" ? watched.run({} as ByteSink) : undefined;
    expect(await value()).toBe("1");
    resolve();
    await run;
    expect(await value()).toBe("0");
  });

  test("the number of series is bounded (CVE-2020-8552)", async () => {
    const metrics = createMetrics({ isServed: () => true });
    const handle = chain(ok, { metrics });
    for (let at = 0; at < requestSeriesMax + 100; at++) await handle(request(`/api/v1/r${at}`));
    const text = await textOf(await metrics.handle({ request: request("/metrics") } as Exchange));
    expect(text.split("\n").filter((line) => line.startsWith("apiserver_request_total{"))).toHaveLength(
      requestSeriesMax + 1,
    );
  });
});
