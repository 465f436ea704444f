import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configMap, TestServer } from "./server.ts";

let server: TestServer;
const maps = "/api/v1/namespaces/default/configmaps";
beforeAll(async () => {
  server = await TestServer.start();
  await server.create(maps, configMap("a"));
});
afterAll(() => server.close());

describe("a path that is not served", () => {
  test.each([["/nothing"], ["/apis/no.such.group"], ["/apis/no.such.group/v1/things"]])(
    "%s is plain text",
    async (path) => {
      const { code, text, headers } = await server.get(path);
      expect({ code, text: text.trimEnd() }).toEqual({ code: 404, text: "404 page not found" });
      expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    },
  );

  test.each([
    ["/api/v2"],
    ["/api/v2/pods"],
    ["/apis/apps/v9"],
    ["/apis/apps/v9/things"],
    ["/api/v1/foos"],
    ["/api/v1/namespaces/default/foos/x"],
    [`${maps}/a/nothing`],
    ["/api/v1/pods/x"],
  ])("%s inside a served group is a Status", async (path) => {
    const { code, json } = await server.get(path);
    expect(code).toBe(404);
    expect(json).toMatchObject({ reason: "NotFound", message: "the server could not find the requested resource" });
  });
});

test.each([
  ["OPTIONS", maps],
  ["POST", `${maps}/a`],
  ["PUT", maps],
  ["PATCH", maps],
  ["DELETE", "/api/v1/configmaps"],
  ["POST", "/api/v1/configmaps"],
])("%s %s is not allowed", async (method, path) => {
  const { code, json } = await server.request(method, path, { body: "{}" });
  expect({ code, kind: json.kind, reason: json.reason }).toEqual({
    code: 405,
    kind: "Status",
    reason: "MethodNotAllowed",
  });
});

describe("headers", () => {
  test("echo the audit id that the client gave, or carry a new one", async () => {
    const { headers } = await server.get(maps, { headers: { "audit-id": "my-audit-id" } });
    expect(headers.get("audit-id")).toBe("my-audit-id");
    expect(headers.get("cache-control")).toBe("no-cache, private");
    const own = await server.get("/nothing");
    expect(own.headers.get("audit-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("of HEAD are those of GET, without a body", async () => {
    for (const path of [`${maps}/a`, maps, "/version", "/livez", "/nothing"]) {
      const got = await server.get(path);
      const { code, headers, bytes } = await server.request("HEAD", path);
      expect({ path, code, bytes: bytes.length }).toEqual({ path, code: got.code, bytes: 0 });
      expect(headers.get("content-type")).toBe(got.headers.get("content-type"));
    }
  });
});

test("an invalid ?timeout= is rejected", async () => {
  const { code, json } = await server.get(`${maps}?timeout=abc`);
  expect(code).toBe(400);
  expect(json.message).toStartWith("invalid timeout specified in the request URL - ");
});

describe("the sender", () => {
  test("without credentials reads health and the version, and nothing else", async () => {
    for (const path of ["/healthz", "/livez", "/readyz", "/version", "/livez/ping"]) {
      const expected = path === "/livez/ping" ? 403 : 200;
      expect({ path, code: (await server.get(path, { token: "" })).code }).toEqual({ path, code: expected });
    }
    for (const path of [maps, "/nothing", "/api", "/apis", "/openapi/v2", "/metrics", "/logs", "/cluster/status"]) {
      const { code, json } = await server.get(path, { token: "" });
      expect({ path, code }).toEqual({ path, code: 403 });
      expect(json.message).toContain('"system:anonymous" cannot ');
    }
    const { code } = await server.post(maps, { metadata: { name: "x" } }, { token: "" });
    expect(code).toBe(403);
  });

  test("without credentials is unauthorized where anonymous requests are off, or everything is allowed", async () => {
    await using allowing = await TestServer.start({ authorizationMode: ["AlwaysAllow"] });
    await using strict = await TestServer.start({ anonymousAuth: false });
    const paths = [maps, "/nothing", "/version", "/api"];
    for (const [closed, path] of [allowing, strict].flatMap((one) => paths.map((path) => [one, path] as const))) {
      const { code, json } = await closed.get(path, { token: "" });
      expect({ path, code }).toEqual({ path, code: 401 });
      expect(json).toMatchObject({ kind: "Status", reason: "Unauthorized", message: "Unauthorized" });
    }
  });

  test.each([["wrong"], ["a b"], [`${"x".repeat(40_000)}`]])("with a bad token is unauthorized", async (token) => {
    expect((await server.get("/version", { token })).code).toBe(401);
  });

  test("decides before the body is read; anonymous users and others get Forbidden", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tokens-"));
    try {
      const tokenAuthFile = join(directory, "tokens.csv");
      writeFileSync(tokenAuthFile, 'jane-token,jane,1,"readers"\n');
      await using closed = await TestServer.start({
        authorizationMode: ["AlwaysDeny"],
        anonymousAuth: true,
        tokenAuthFile,
      });
      const jane = await closed.post(maps, "{", { token: "jane-token" });
      expect({ code: jane.code, message: jane.json.message, details: jane.json.details }).toEqual({
        code: 403,
        message:
          'configmaps is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "default": Everything is forbidden.',
        details: { kind: "configmaps" },
      });
      const path = await closed.get("/nothing", { token: "" });
      expect({ code: path.code, message: path.json.message }).toEqual({
        code: 403,
        message: 'forbidden: User "system:anonymous" cannot get path "/nothing": Everything is forbidden.',
      });
      expect(path.headers.get("x-content-type-options")).toBe("nosniff");
      expect((await closed.get(maps)).code).toBe(200);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

const startChecks = [
  "[+]etcd-readiness ok",
  "[+]poststarthook/rbac/bootstrap-roles ok",
  "[+]poststarthook/apiservice-discovery-controller ok",
  "[+]autoregister-completion ok",
];

describe("non-resource paths", () => {
  test.each([["/healthz"], ["/livez"], ["/readyz"], ["/livez/ping"], ["/readyz/etcd"]])("%s is ok", async (path) => {
    const { code, text, headers } = await server.get(path);
    expect({ code, text, type: headers.get("content-type") }).toEqual({
      code: 200,
      text: "ok",
      type: "text/plain; charset=utf-8",
    });
  });

  test("verbose health names its checks", async () => {
    const { text } = await server.get("/readyz?verbose&exclude=etcd");
    expect(text).toBe(
      ["[+]ping ok", "[+]etcd excluded: ok", ...startChecks, "[+]shutdown ok", "healthz check passed", ""].join("\n"),
    );
    expect((await server.get("/livez?verbose&exclude=nobody")).text).toContain(
      'warn: some health checks cannot be excluded: no matches for "nobody"',
    );
    expect((await server.get("/livez/nobody")).code).toBe(404);
  });

  test("/version describes the server", async () => {
    const { json } = await server.get("/version");
    expect(json).toMatchObject({ major: "1", minor: "36" });
    expect(json.gitVersion).toMatch(/^v1\.36\.\d+\+quorate\./);
  });

  test("/ lists the paths", async () => {
    const { paths } = (await server.get("/")).json;
    expect(paths).toEqual([...paths].sort());
    expect(paths).toContainValues(["/api", "/apis", "/healthz", "/metrics", "/openapi/v2", "/version"]);
  });

  test("/metrics has the stable names and counts this request's verb", async () => {
    await server.get(maps);
    const { text, headers } = await server.get("/metrics");
    expect(headers.get("content-type")).toStartWith("text/plain");
    for (const name of [
      "apiserver_request_total",
      "apiserver_request_duration_seconds",
      "apiserver_response_sizes",
      "apiserver_current_inflight_requests",
      "apiserver_longrunning_requests",
      "apiserver_storage_objects",
    ]) {
      expect(text.includes(`\n# TYPE ${name} `), name).toBe(true);
    }
    expect(text).toMatch(/apiserver_request_total\{[^}]*verb="LIST"[^}]*resource="configmaps"[^}]*\} [1-9]/);
  });
});

describe("discovery", () => {
  const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

  test.each([["/api"], ["/apis"]])("the aggregated form of %s is sent once for its ETag", async (path) => {
    const { code, headers, json } = await server.get(path, { accept: `${aggregated},application/json` });
    expect({ code, kind: json.kind, type: headers.get("content-type") }).toEqual({
      code: 200,
      kind: "APIGroupDiscoveryList",
      type: aggregated,
    });
    const etag = headers.get("etag") as string;
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    expect(headers.get("vary")).toBe("Accept");
    const again = await server.get(path, { accept: aggregated, headers: { "if-none-match": etag } });
    expect({ code: again.code, bytes: again.bytes.length }).toEqual({ code: 304, bytes: 0 });
    const other = await server.get(path, { accept: aggregated, headers: { "if-none-match": '"x"' } });
    expect(other.code).toBe(200);
  });

  test("unaggregated names groups, versions and resources", async () => {
    expect((await server.get("/api")).json).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    expect((await server.get("/apis")).json.groups.map(({ name }: any) => name)).toContain("coordination.k8s.io");
    expect((await server.get("/apis/coordination.k8s.io")).json.preferredVersion.version).toBe("v1");
    const { resources } = (await server.get("/api/v1")).json;
    const names = resources.map(({ name }: any) => name);
    expect(names).toEqual([...names].sort());
    expect(resources.find(({ name }: any) => name === "pods")).toMatchObject({
      kind: "Pod",
      namespaced: true,
      shortNames: ["po"],
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    });
  });

  test("every resource that it names can be listed", async () => {
    const { groups } = (await server.get("/apis")).json;
    const versions = [
      "/api/v1",
      ...groups.flatMap((group: any) => group.versions.map((v: any) => `/apis/${v.groupVersion}`)),
    ];
    for (const path of versions) {
      for (const { name, verbs, kind } of (await server.get(path)).json.resources) {
        if (!verbs.includes("list")) continue;
        const { code, json } = await server.get(`${path}/${name}`);
        expect({ name, code, kind: json.kind }).toEqual({ name, code: 200, kind: `${kind}List` });
      }
    }
  });
});

test("HTTP/2 carries many requests and a watch on one connection", async () => {
  const session = server.http2();
  try {
    const headers = { authorization: `Bearer ${server.running.token}` };
    const watch = session.request({ ":path": `${maps}?watch=1&timeoutSeconds=1`, ...headers });
    const [head] = (await once(watch, "response")) as [Record<string, unknown>];
    expect(head[":status"]).toBe(200);
    const codes = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const stream = session.request({ ":path": `${maps}/a`, ...headers });
        const [response] = (await once(stream, "response")) as [Record<string, unknown>];
        stream.resume();
        await once(stream, "close");
        return response[":status"];
      }),
    );
    expect(codes).toEqual(codes.map(() => 200));
    let text = "";
    for await (const chunk of watch) text += chunk;
    expect(JSON.parse(text.split("\n")[0] as string).object.metadata.name).toBe("a");
  } finally {
    session.close();
  }
});

describe("the end", () => {
  test("begins with readyz, ends watches cleanly and closes the port", async () => {
    const leaving = await TestServer.start();
    const watch = await leaving.watch(maps);
    leaving.running.beginShutdown();
    const ready = await leaving.get("/readyz");
    expect({ code: ready.code, text: ready.text }).toEqual({
      code: 500,
      text: [
        "[+]ping ok",
        "[+]etcd ok",
        ...startChecks,
        "[-]shutdown failed: reason withheld",
        "readyz check failed",
        "",
      ].join("\n"),
    });
    expect((await leaving.get("/livez")).code).toBe(200);
    await leaving.create(maps, configMap("last"));
    expect((await watch.take(1)).map(({ type }) => type)).toEqual(["ADDED"]);
    const closing = leaving.close();
    expect(await watch.rest()).toEqual([]);
    await closing;
    expect(leaving.get("/livez")).rejects.toThrow();
    await leaving.close();
  });

  test("answers the requests that it has taken", async () => {
    const leaving = await TestServer.start();
    await leaving.create(maps, configMap("first"));
    const codes = Array.from({ length: 20 }, (_, at) =>
      leaving.post(maps, configMap(`w-${at}`)).then(
        ({ code }) => code,
        () => "refused",
      ),
    );
    await codes[0];
    await leaving.close();
    for (const code of await Promise.all(codes)) expect([201, 429, 503, "refused"]).toContain(code);
    expect(await codes[0]).toBe(201);
  });
});
