import { describe, expect, test } from "bun:test";
import { anonymousAuthenticator } from "../access/authentication/anonymous.ts";
import { unionAuthenticator } from "../access/authentication/authenticator.ts";
import { alwaysAllowAuthorizer } from "../access/authorization/always-allow.ts";
import { status } from "../api/status.ts";
import { systemClock } from "../process/clock.ts";
import type { Handler, HttpResponse, IncomingRequest } from "../request/exchange.ts";
import { StoreUnavailableError } from "../storage/store.ts";
import { type AppOptions, buildApp } from "./app.ts";
import { type HealthCheck, healthEndpoints, healthHandler, pingCheck, shutdownCheck, storeCheck } from "./health.ts";
import { Lifecycle } from "./lifecycle.ts";

function request(method: string, rawPath: string): IncomingRequest {
  return {
    method,
    rawPath,
    headers: [],
    peer: { kind: "none" },
    remoteAddress: "127.0.0.1",
    httpVersion: "2",
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
    isAborted: false,
  };
}

const names =
  (name: string): Handler =>
  async ({ info }) => ({ kind: "reply", code: 200, headers: [], body: Buffer.from(`${name} ${info.path}`) });

function app(options: Partial<AppOptions> = {}) {
  const handle = buildApp({
    chain: {
      clock: systemClock,
      authenticator: unionAuthenticator([], anonymousAuthenticator()),
      authorizer: alwaysAllowAuthorizer,
    },
    health: names("health"),
    metrics: names("metrics"),
    version: names("version"),
    resources: names("resources"),
    ...options,
  });
  return async (rawPath: string, method = "GET") => {
    const response = await handle(request(method, rawPath));
    return { code: response.code, text: textOf(response), response };
  };
}

function textOf(response: HttpResponse): string {
  return response.kind === "reply" ? Buffer.from(response.body as Uint8Array).toString() : "";
}

describe("the application", () => {
  test.each([
    ["/livez", "health /livez"],
    ["/readyz/poststarthook/x", "health /readyz/poststarthook/x"],
    ["/metrics", "metrics /metrics"],
    ["/version?timeout=32s", "version /version"],
    ["/api/v1/pods/a;b", "resources /api/v1/pods/a;b"],
    ["/api/v1/pods/%3F%23", "resources /api/v1/pods/?#"],
    ["/apis", "discovery /apis"],
    ["/apis/", "discovery /apis/"],
    ["/openapi/v3/apis/apps/v1", "openapi /openapi/v3/apis/apps/v1"],
  ])("%s is served by %p", async (path, text) => {
    const plugins = [
      { name: "discovery", paths: ["/api", "/apis", "/apis/"], handle: names("discovery") },
      { name: "openapi", paths: ["/openapi/*"], handle: names("openapi") },
    ];
    expect(await app({ plugins })(path)).toMatchObject({ code: 200, text });
  });

  test.each(["/nowhere", "/LIVEZ", "/metrics/", "/resources", "/not-found", "/livez%2Fx/y", "/openapi"])(
    "%s is nobody's path",
    async (path) => {
      const answer = await app()(path);
      expect([400, 404]).toContain(answer.code);
    },
  );

  test("any method reaches the handler, and errors come out as the chain renders them", async () => {
    expect((await app()("/version", "FOO")).text).toBe("version /version");
    const failing = app({
      resources: () => Promise.reject(status.notFound({ group: "", resource: "pods", name: "p" })),
    });
    expect(JSON.parse((await failing("/api/v1/pods/p")).text)).toMatchObject({ code: 404, reason: "NotFound" });
    const broken = app({
      resources: () => {
        throw new TypeError("x is not a function");
      },
    });
    const answer = await broken("/api/v1/pods");
    expect([answer.code, answer.text.includes("not a function")]).toEqual([500, false]);
  });

  test("streams pass untouched", async () => {
    const run = async () => {};
    const { response } = await app({ resources: async () => ({ kind: "stream", code: 200, headers: [], run }) })(
      "/api/v1/pods?watch=1",
    );
    expect(response.kind).toBe("stream");
  });
});

describe("health", () => {
  let failure: Error | undefined;
  const etcd: HealthCheck = {
    name: "etcd",
    endpoints: healthEndpoints,
    check: async () => {
      if (failure !== undefined) throw failure;
    },
  };
  const lifecycle = new Lifecycle();
  const checks = [pingCheck, etcd, shutdownCheck(lifecycle)];
  const get = app({ health: healthHandler({ clock: systemClock, checks }) });

  test.each([
    ["/livez", "ok"],
    ["/livez?verbose", "[+]ping ok\n[+]etcd ok\nhealthz check passed\n"],
    ["/readyz?verbose=1", "[+]ping ok\n[+]etcd ok\n[+]shutdown ok\nhealthz check passed\n"],
    ["/healthz?verbose&exclude=etcd", "[+]ping ok\n[+]etcd excluded: ok\nhealthz check passed\n"],
    [
      "/healthz?verbose&exclude=x&exclude=y",
      '[+]ping ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for "x", "y"\nhealthz check passed\n',
    ],
    ["/livez/etcd", "ok"],
  ])("%s while healthy", async (path, text) => {
    failure = undefined;
    const answer = await get(path);
    expect(answer).toMatchObject({ code: 200, text });
    expect(answer.response.headers).toContainEqual(["x-content-type-options", "nosniff"]);
  });

  test.each([
    ["/livez", 500, "[+]ping ok\n[-]etcd failed: reason withheld\nlivez check failed\n"],
    ["/livez?exclude=etcd", 200, "ok"],
    ["/livez/etcd", 500, "internal server error: disk\n"],
    ["/livez/ping", 200, "ok"],
    ["/livez/shutdown", 404, "404 page not found\n"],
    ["/livez/", 404, "404 page not found\n"],
  ])("%s while the store fails", async (path, code, text) => {
    failure = new Error("disk");
    expect(await get(path)).toMatchObject({ code, text });
  });

  test("a store that failed is neither alive nor ready, and does not say why", async () => {
    let failure: StoreUnavailableError | undefined;
    const check = storeCheck({
      get failure() {
        return failure;
      },
    });
    const ask = app({ health: healthHandler({ clock: systemClock, checks: [check] }) });
    expect((await ask("/livez")).code).toBe(200);
    failure = new StoreUnavailableError("/var/lib/x: no space left");
    expect([(await ask("/livez")).code, (await ask("/readyz")).code]).toEqual([500, 500]);
    expect((await ask("/readyz/etcd")).text).not.toContain("/var/lib");
  });

  test("readyz fails during shutdown, livez does not", async () => {
    failure = undefined;
    lifecycle.advance("leaving");
    expect((await get("/readyz")).code).toBe(500);
    expect((await get("/livez")).code).toBe(200);
  });

  test("livez is patient with startup checks until they pass or the grace period is over", async () => {
    let steadyMs = 0;
    let ready = false;
    const hook: HealthCheck = {
      name: "poststarthook/rbac/bootstrap-roles",
      endpoints: healthEndpoints,
      startup: true,
      check() {
        if (!ready) throw new Error("not finished");
      },
    };
    const clock = { ...systemClock, steadyMs: () => steadyMs };
    const ask = app({ health: healthHandler({ clock, checks: [hook], livezGracePeriodMs: 1_000 }) });
    expect((await ask("/livez")).code).toBe(200);
    expect((await ask("/readyz")).code).toBe(500);
    expect((await ask("/readyz/poststarthook/rbac/bootstrap-roles")).code).toBe(500);
    steadyMs = 1_000;
    expect((await ask("/livez")).code).toBe(500);
    ready = true;
    expect((await ask("/livez")).code).toBe(200);
    steadyMs = 500;
    ready = false;
    expect((await ask("/livez")).code).toBe(500);
  });

  test("a check that never ends has failed", async () => {
    const clock = {
      ...systemClock,
      after: (_delayMs: number, run: () => void) => {
        queueMicrotask(run);
        return { [Symbol.dispose]: () => {} };
      },
    };
    const stuck: HealthCheck = { name: "stuck", endpoints: ["livez"], check: () => new Promise(() => {}) };
    expect((await app({ health: healthHandler({ clock, checks: [stuck] }) })("/livez")).code).toBe(500);
  });
});
