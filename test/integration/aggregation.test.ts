import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import { until } from "../until.ts";
import { ExtensionServer, group, root } from "./extension-server.ts";
import { rawRequest } from "./raw-request.ts";
import { mergePatch, TestServer } from "./server.ts";

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
const own = `${apiServices}/v1.${group}`;
const widgets = `${root}/namespaces/default/widgets`;
const directory = mkdtempSync(join(tmpdir(), "quorate-aggregation-"));
const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
const frontProxy = createAuthority({ commonName: "front proxy", ...validity });
const auditLog = join(directory, "audit.log");

let server: TestServer;
let extension: ExtensionServer;

beforeAll(async () => {
  writeClient("front-proxy-client");
  const auditPolicyFile = join(directory, "audit.yaml");
  writeFileSync(auditPolicyFile, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]\n");
  extension = await ExtensionServer.start();
  server = await TestServer.start({
    enableAggregatorRouting: true,
    proxyClientCertFile: join(directory, "client.pem"),
    proxyClientKeyFile: join(directory, "client-key.pem"),
    auditPolicyFile,
    auditLogPath: auditLog,
  });
  for (const [path, object] of extension.objects()) await server.create(path, object);
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const rules = [{ apiGroups: [group], resources: ["widgets"], verbs: ["create"] }];
  await server.create(`${rbac}/clusterroles`, { metadata: { name: "makers" }, rules });
  await server.create(`${rbac}/clusterrolebindings`, {
    metadata: { name: "makers" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "makers" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "developers" }],
  });
  await untilAvailable("True");
});

afterAll(async () => {
  await server.close();
  await extension[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

beforeEach(() => {
  extension.seen.length = 0;
  extension.answer = (_message, response) => response.end("{}");
});

function writeClient(commonName: string): void {
  const names = { organizations: [], dnsNames: [], ipAddresses: [], usage: "client" as const };
  const { certificate, key } = issueCertificate(frontProxy, { commonName, ...names, ...validity });
  writeFileSync(join(directory, "client.pem"), certificate);
  writeFileSync(join(directory, "client-key.pem"), key);
}

interface Condition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

async function condition(): Promise<Condition> {
  const { json } = await server.get(own);
  const found: Condition[] = json.status?.conditions ?? [];
  return found.find(({ type }) => type === "Available") ?? { type: "Available" };
}

async function untilAvailable(status: string, reason?: string): Promise<string> {
  const isSo = (found: Condition) => found.status === status && (reason === undefined || found.reason === reason);
  return (await until(condition, isSo)).message ?? "";
}

const valuesOf = (name: string) =>
  (extension.clients[0]?.headers ?? []).filter(([key]) => key === name).map(([, value]) => value);

describe("a request for a group version of an extension server", () => {
  test("arrives there with our certificate, the user and where it came from", async () => {
    extension.answer = (_message, response) => {
      response.writeHead(201, { "content-type": "application/json", "x-own": "y" });
      response.end('{"kind":"Widget"}');
    };
    const { code, headers, text } = await server.post(`${widgets}?b=2&a=x%20y&a=%2F`, "body", {
      headers: {
        "audit-id": "the-audit-id",
        "impersonate-user": "jane",
        "impersonate-group": "developers",
        "impersonate-extra-example.com%2fscopes": "all",
        "impersonate-uid": "7",
        cookie: "a=b",
      },
    });
    expect([code, headers.get("content-type"), headers.get("x-own"), text]).toEqual([
      201,
      "application/json",
      "y",
      '{"kind":"Widget"}',
    ]);
    expect(headers.get("audit-id")).toBe("the-audit-id");
    const [seen] = extension.clients;
    expect([seen?.method, seen?.url, seen?.client]).toEqual([
      "POST",
      `${widgets}?a=x+y&a=%2F&b=2`,
      "front-proxy-client",
    ]);
    expect(valuesOf("x-remote-user")).toEqual(["jane"]);
    expect(valuesOf("x-remote-uid")).toEqual(["7"]);
    expect(valuesOf("x-remote-group")).toEqual(["developers", "system:authenticated"]);
    expect(valuesOf("x-remote-extra-example.com%2Fscopes".toLowerCase())).toEqual(["all"]);
    expect(valuesOf("x-forwarded-for")).toEqual(["127.0.0.1"]);
    expect(valuesOf("x-forwarded-uri")).toEqual([widgets]);
    expect(valuesOf("audit-id")).toEqual(["the-audit-id"]);
    expect(valuesOf("cookie")).toEqual(["a=b"]);
    for (const name of ["authorization", "impersonate-user", "impersonate-group"]) expect(valuesOf(name)).toEqual([]);
  });

  test.each(["X-Remote-User", "X-Remote-Group", "X-Remote-Uid", "X-Remote-Extra-Scopes", "X_Remote_Group"])(
    "never has an identity that the client sends: %s",
    async (name) => {
      const { port, ca, token } = server.running;
      const headers = [
        ["authorization", `Bearer ${token}`],
        [name, "system:masters-of-none"],
        ["connection", "keep-alive"],
      ] as const;
      expect((await rawRequest({ port, ca, path: widgets, headers })).code).toBe(200);
      expect(extension.clients[0]?.headers.map(([, value]) => value)).not.toContain("system:masters-of-none");
    },
  );

  test("needs the right to make it, here", async () => {
    const { code, json } = await server.get(widgets, { headers: { "impersonate-user": "jane" } });
    expect([code, json.message]).toEqual([
      403,
      `widgets.${group} is forbidden: User "jane" cannot list resource "widgets" in API group "${group}" in the namespace "default"`,
    ]);
    expect(extension.clients).toEqual([]);
  });

  test("may be for the discovery of the group version", async () => {
    for (const path of [root, `${root}/`]) {
      const { code, json } = await server.get(path);
      expect([code, json.kind]).toEqual([200, "APIResourceList"]);
    }
  });

  test.each(["..", "%2e%2e", "a%2fb"])("is not passed on if its path is ambiguous: %s", async (segment) => {
    const { port, ca, token } = server.running;
    const headers = [["authorization", `Bearer ${token}`]] as const;
    expect((await rawRequest({ port, ca, path: `${root}/${segment}/widgets`, headers })).code).toBe(404);
    expect(extension.clients).toEqual([]);
  });

  test("that comes back to this server is refused", async () => {
    await server.get(widgets);
    const [via = ""] = valuesOf("via");
    const { code, text } = await server.get(widgets, { headers: { via: `1.1 other, ${via}` } });
    expect([code, text]).toEqual([508, "loop detected\n"]);
    expect((await server.get(widgets, { headers: { via: "1.1 other" } })).code).toBe(200);
  });

  test("CVE-2022-3172: is not answered with a redirect", async () => {
    extension.answer = (_message, response) => response.writeHead(302, { location: "https://elsewhere/" }).end();
    const { code, text, headers } = await server.get(widgets);
    expect([code, text]).toEqual([502, "the backend attempted to redirect this request, which is not permitted"]);
    expect(headers.get("location")).toBeNull();
  });

  test("may have a body of any length, and a long answer", async () => {
    const bytes = 8 * 1024 * 1024;
    extension.answer = async (message, response) => {
      for await (const chunk of message) response.write(chunk);
      response.end();
    };
    const answer = await server.post(widgets, new Uint8Array(bytes).fill(97));
    expect([answer.code, answer.bytes.byteLength]).toEqual([200, bytes]);
  });
});

test("a request is audited under its user, without the bodies that only pass through", async () => {
  extension.answer = (_message, response) => response.writeHead(201).end('{"secret":"answer"}');
  await server.post(widgets, { secret: "question" }, { headers: { "audit-id": "audited" } });
  const lines = () =>
    readFileSync(auditLog, "utf8")
      .split("\n")
      .filter((line) => line.includes('"auditID":"audited"'));
  while (lines().length < 2) await Bun.sleep(20);
  const events = lines().map((line) => JSON.parse(line));
  expect(events.map(({ stage, responseStatus }) => [stage, responseStatus?.code])).toEqual([
    ["RequestReceived", undefined],
    ["ResponseComplete", 201],
  ]);
  expect(events[1]).toMatchObject({
    verb: "create",
    user: { username: "kubernetes-admin" },
    objectRef: { resource: "widgets", namespace: "default", apiGroup: group, apiVersion: "v1" },
  });
  expect(lines().join("")).not.toContain("secret");
});

test("a watch is passed on event by event, and ends with its client", async () => {
  const gone = Promise.withResolvers<void>();
  let more: ((text: string) => void) | undefined;
  extension.answer = (_message, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    more = (text) => response.write(text);
    response.once("close", () => gone.resolve());
    response.flushHeaders();
  };
  const watch = await server.watch(widgets);
  more?.('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n');
  expect((await watch.next())?.object.metadata.name).toBe("a");
  more?.('{"type":"DELETED","object":{"metadata":{"name":"a"}}}\n');
  expect((await watch.next())?.type).toBe("DELETED");
  await watch[Symbol.asyncDispose]();
  await gone.promise;
});

test("a watch gives its seats back when the backend has begun to answer", async () => {
  const executing = async () => {
    const { text } = await server.get("/metrics");
    const lines = text.split("\n").filter((line) => line.startsWith("apiserver_flowcontrol_current_executing_seats{"));
    expect(lines.length).toBeGreaterThan(0);
    return lines.map((line) => Number(line.split(" ").at(-1))).reduce((sum, seats) => sum + seats, 0);
  };
  const before = await executing();
  extension.answer = (_message, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
  };
  await using _watch = await server.watch(widgets);
  expect(await executing()).toBe(before);
});

test("a watch is broken off with its backend, and this server is not at fault", async () => {
  const log = spyOn(process.stderr, "write").mockReturnValue(true);
  extension.answer = (_message, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n{"type');
    setTimeout(() => response.destroy(), 20);
  };
  const watch = await server.watch(widgets);
  await watch.take(1);
  await expect(watch.next()).rejects.toThrow();
  expect(log.mock.calls.map(([text]) => String(text))).toEqual([]);
  log.mockRestore();
});

test("an answer waits for a client that does not read it", async () => {
  const piece = Buffer.alloc(64 * 1024);
  const piecesMax = 2_000;
  let sent = 0;
  extension.answer = async (_message, response) => {
    for (; sent < piecesMax && !response.destroyed; sent++) {
      if (!response.write(piece)) await new Promise<void>((resolve) => response.once("drain", resolve));
    }
    response.end();
  };
  const { port, ca, token } = server.running;
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["http/1.1"] });
  socket.once("secureConnect", () =>
    socket.write(`GET ${widgets} HTTP/1.1\r\nhost: k\r\nauthorization: Bearer ${token}\r\n\r\n`),
  );
  let still = -1;
  while (still !== sent || sent === 0) {
    still = sent;
    await Bun.sleep(200);
  }
  expect(sent).toBeLessThan(piecesMax);
  socket.destroy();
});

test.each(["websocket", "SPDY/3.1"])("a connection can be upgraded to %s", async (protocol) => {
  extension.upgrade = (message, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${message.headers.upgrade}\r\n\r\n`,
    );
    socket.on("data", (data) => socket.write(`echo ${data}`));
  };
  const { port, ca, token } = server.running;
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["http/1.1"] });
  let text = "";
  socket.on("data", (data) => {
    const isFirst = !text.includes("\r\n\r\n");
    text += data.toString();
    if (isFirst && text.includes("\r\n\r\n")) socket.write("hello");
    if (text.includes("echo hello")) socket.end();
  });
  const lines = [
    `authorization: Bearer ${token}`,
    "x-remote-user: admin",
    "connection: Upgrade",
    `upgrade: ${protocol}`,
  ];
  socket.write(`POST ${widgets}/a/attach HTTP/1.1\r\nhost: k\r\n${lines.join("\r\n")}\r\n\r\n`);
  await new Promise((resolve) => socket.once("close", resolve));
  expect(text).toStartWith("HTTP/1.1 101 ");
  expect(text).toEndWith("echo hello");
  expect(valuesOf("x-remote-user")).toEqual(["kubernetes-admin"]);
  expect(valuesOf("authorization")).toEqual([]);
});

describe("an APIService", () => {
  test("says why its group version is not available, and requests get 503 until it is", async () => {
    const { port } = extension;
    await extension.stop();
    await server.patch(own, mergePatch, { metadata: { labels: { look: "now" } } });
    expect(await untilAvailable("False", "FailedDiscoveryCheck")).toMatch(
      /^failing or missing response from https:.*: dial tcp .*: connect: connection refused$/,
    );
    const { code, text, headers } = await server.get(widgets);
    expect([code, text, headers.get("content-type"), headers.get("x-content-type-options")]).toEqual([
      503,
      "service unavailable\n",
      "text/plain; charset=utf-8",
      "nosniff",
    ]);
    expect((await server.get("/metrics")).text).toContain(
      `aggregator_unavailable_apiservice_total{name="v1.${group}",reason="FailedDiscoveryCheck"} 1`,
    );
    await extension.listen(port);
    await untilAvailable("True", "Passed");
    expect((await server.get(widgets)).code).toBe(200);
  });

  test("of a service that nobody has made yet waits for it", async () => {
    const service = { namespace: "default", name: "later", port: 443 };
    const spec = { group: "later.example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1, service };
    await server.create(apiServices, { metadata: { name: "v1.later.example.com" }, spec });
    const message = async () => {
      const { json } = await server.get(`${apiServices}/v1.later.example.com`);
      return json.status?.conditions?.[0]?.message ?? "";
    };
    const untilItSays = (text: string) => until(message, (found) => found === text);
    await untilItSays('service/later in "default" is not present');
    const ports = [{ name: "x", port: 80 }];
    await server.create("/api/v1/namespaces/default/services", { metadata: { name: "later" }, spec: { ports } });
    await untilItSays('service/later in "default" is not listening on port 443');
    const path = "/api/v1/namespaces/default/services/later";
    await server.patch(path, mergePatch, { spec: { ports: [{ name: "x", port: 443 }] } });
    await untilItSays('cannot find endpointslices for service/later in "default"');
    const slice = {
      metadata: { name: "later-a", labels: { "kubernetes.io/service-name": "later" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.1.1"], conditions: { ready: false } }],
      ports: [{ name: "x", port: 443 }],
    };
    await server.create("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice);
    await untilItSays('endpointslices for service/later in "default" have no addresses with port name "x"');
  });

  test("of this server itself never becomes available, instead of going around in circles", async () => {
    const service = { namespace: "default", name: "kubernetes", port: 443 };
    const spec = { group: "loop.example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1, service };
    const caBundle = btoa(server.running.ca);
    await server.create(apiServices, { metadata: { name: "v1.loop.example.com" }, spec: { ...spec, caBundle } });
    const message = async () => {
      const { json } = await server.get(`${apiServices}/v1.loop.example.com`);
      return json.status?.conditions?.[0]?.message ?? "";
    };
    const said = await until(message, (found) => found !== "");
    const url = `https://127.0.0.1:${server.running.port}/apis/loop.example.com/v1`;
    expect(said).toBe(`failing or missing response from ${url}: bad status from ${url}: 401`);
    await server.delete(`${apiServices}/v1.loop.example.com`);
  });

  test("with a bundle that cannot be read answers 500 while it is still called available", async () => {
    await server.patch(own, mergePatch, { spec: { caBundle: btoa("nonsense") } });
    const { code, text } = await server.get(widgets);
    expect([code, text]).toEqual([500, "unable to load root certificates: unable to parse bytes as PEM block\n"]);
    await server.patch(own, mergePatch, extension.apiService());
    expect((await server.get(widgets)).code).toBe(200);
  });

  test("of a definition comes and goes with its version, and one that somebody takes over stays", async () => {
    const custom = "v1.things.example.com";
    const definition = (served: boolean) => ({
      metadata: { name: "things.things.example.com" },
      spec: {
        group: "things.example.com",
        scope: "Cluster",
        names: { plural: "things", kind: "Thing" },
        versions: [
          { name: "v1", served, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
          { name: "v2", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      },
    });
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const untilAnswered = (name: string, code: number) =>
      until(async () => (await server.get(`${apiServices}/${name}`)).code === code);
    await server.create(definitions, definition(true));
    await untilAnswered(custom, 200);
    await untilAnswered("v2.things.example.com", 200);
    const { json } = await server.get(`${apiServices}/${custom}`);
    expect([json.spec, json.metadata.labels, json.status.conditions[0].reason]).toEqual([
      { group: "things.example.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 },
      { "kube-aggregator.kubernetes.io/automanaged": "true" },
      "Local",
    ]);
    await server.delete(`${apiServices}/${custom}`);
    await untilAnswered(custom, 200);
    await server.patch(`${definitions}/things.things.example.com`, mergePatch, definition(false));
    await untilAnswered(custom, 404);
    const taken = { metadata: { labels: { "kube-aggregator.kubernetes.io/automanaged": null } } };
    await server.patch(`${apiServices}/v2.things.example.com`, mergePatch, taken);
    await server.delete(`${definitions}/things.things.example.com`);
    await server.create(definitions, {
      ...definition(true),
      metadata: { name: "others.things.example.com" },
      spec: { ...definition(true).spec, names: { plural: "others", kind: "Other" } },
    });
    await untilAnswered(custom, 200);
    expect((await server.get(`${apiServices}/v2.things.example.com`)).code).toBe(200);
  });

  test("of a built-in kind is not made again before the next start", async () => {
    const path = `${apiServices}/v1.policy`;
    expect((await server.delete(path)).code).toBe(200);
    expect((await server.get(path)).code).toBe(404);
    expect((await server.get("/apis/policy/v1/poddisruptionbudgets")).code).toBe(200);
    expect((await server.get("/readyz/autoregister-completion")).text).toBe("ok");
  });
});

test("the certificate follows its files", async () => {
  writeClient("renewed");
  await until(async () => {
    extension.seen.length = 0;
    await server.get(widgets);
    return extension.clients[0]?.client === "renewed";
  });
}, 60_000);
