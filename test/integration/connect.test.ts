import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { NodeAgent } from "./node-agent.ts";
import { ownAddress } from "./own-address.ts";
import { mergePatch, pod, TestServer } from "./server.ts";

const unknownAuthority = "tls: failed to verify certificate: x509: certificate signed by unknown authority";

let server: TestServer;
let agent: NodeAgent;
let namespace: string;
let pods: string;

beforeAll(async () => {
  [server, agent] = await Promise.all([TestServer.start(), NodeAgent.start()]);
  namespace = await server.namespace();
  pods = `/api/v1/namespaces/${namespace}/pods`;
  await agent.register(server, "n1");
  await server.create("/api/v1/nodes", { metadata: { name: "silent" } });
  for (const [name, address] of [
    ["gone", "127.0.0.1"],
    ["far-gone", ownAddress()],
    ["metadata", "169.254.169.254"],
    ["localhost", "localhost"],
  ] as const) {
    const addresses = [{ type: "InternalIP", address }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: 1 } } };
    await server.create("/api/v1/nodes", { metadata: { name }, status });
  }
  const two = {
    containers: [
      { name: "a", image: "i" },
      { name: "b", image: "i" },
    ],
    initContainers: [{ name: "first", image: "i" }],
  };
  for (const [name, spec] of [
    ["bound", { nodeName: "n1" }],
    ["two", { nodeName: "n1", ...two }],
    ["free", {}],
    ["nowhere", { nodeName: "missing" }],
    ["silent", { nodeName: "silent" }],
    ["gone", { nodeName: "gone" }],
  ] as const) {
    await server.create(pods, pod(name, spec));
  }
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await server.close();
});
beforeEach(() => {
  agent.seen.length = 0;
});

describe("pods/log", () => {
  test("comes from the node's agent, to which the server proves itself, with the options it knows", async () => {
    agent.answer = (_request, response) => response.end("line 1\nline 2\n");
    const { code, text, headers } = await server.get(
      `${pods}/bound/log?timestamps=true&tailLines=2&sinceSeconds=5&limitBytes=100&previous=0&pretty=x`,
    );
    expect({ code, text, type: headers.get("content-type") }).toEqual({
      code: 200,
      text: "line 1\nline 2\n",
      type: "text/plain",
    });
    const [seen] = agent.seen;
    expect(seen?.url).toBe(
      `/containerLogs/${namespace}/bound/main?timestamps=true&sinceSeconds=5&tailLines=2&limitBytes=100`,
    );
    expect(seen?.client).toBe("kube-apiserver-kubelet-client");
    expect(seen?.headers.authorization).toBeUndefined();
  });

  test("that is followed arrives line by line, and ends at the node when the client goes", async () => {
    const ended = Promise.withResolvers<void>();
    const more = Promise.withResolvers<void>();
    agent.answer = async (_request, response) => {
      response.once("close", () => ended.resolve());
      response.write("one\n");
      await more.promise;
      response.write("two\n");
    };
    const abort = new AbortController();
    const response = await fetch(`${server.running.url}${pods}/bound/log?follow=true`, {
      tls: { ca: server.running.ca },
      headers: { authorization: `Bearer ${server.running.token}` },
      signal: abort.signal,
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe("one\n");
    more.resolve();
    expect(await next()).toBe("two\n");
    abort.abort();
    await ended.promise;
  });

  test.each([
    [
      "two/log",
      400,
      "a container name must be specified for pod two, choose one of: [a b] or one of the init containers: [first]",
    ],
    ["two/log?container=c", 400, "container c is not valid for pod two"],
    ["missing/log", 404, 'pods "missing" not found'],
    ["nowhere/log", 404, 'pods "missing" not found'],
    ["silent/log", 500, "no preferred addresses found; known addresses: []"],
    [
      "bound/log?sinceSeconds=0",
      422,
      'PodLogOptions "bound" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0',
    ],
    [
      "bound/log?tailLines=-1",
      422,
      'PodLogOptions "bound" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      "bound/log?sinceTime=yesterday",
      400,
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
    ["bound/log?tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ["bound/log?dryRun=All", 400, "dryRun is not supported"],
  ])("%s is a %d", async (path, code, message) => {
    const answer = await server.get(`${pods}/${path}`);
    expect({ code: answer.code, message: answer.json.message }).toEqual({ code, message });
    expect(agent.seen).toEqual([]);
  });

  test("of a pod without a node is empty, and of a pod with an unreachable agent an error with the reason", async () => {
    expect((await server.get(`${pods}/free/log`)).code).toBe(204);
    const { code, json } = await server.get(`${pods}/gone/log`);
    expect({ code, message: json.message, reason: json.reason }).toEqual({
      code: 500,
      message: `Get "https://127.0.0.1:1/containerLogs/${namespace}/gone/main": dial tcp 127.0.0.1:1: connect: connection refused`,
      reason: undefined,
    });
  });

  test.each([
    [400, 400, "BadRequest", "no such container"],
    [404, 404, "NotFound", "the server could not find the requested resource (no such container)"],
    [500, 500, "InternalError", "Internal error occurred: no such container"],
    [503, 500, undefined, "no such container"],
  ] as const)("when the agent answers %d is a %d", async (agentCode, code, reason, message) => {
    agent.answer = (_request, response) => {
      response.statusCode = agentCode;
      response.end("no such container\n");
    };
    const answer = await server.get(`${pods}/bound/log`);
    expect({ code: answer.code, reason: answer.json.reason, message: answer.json.message }).toEqual({
      code,
      reason,
      message,
    });
  });
});

/** Sends the head of a request to upgrade to `protocol`. Returns the socket with a reader of its data. */
async function upgrade(method: string, path: string, protocol: string, token = server.running.token, to = server) {
  const { port, ca } = to.running;
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["http/1.1"] });
  await new Promise<void>((resolve) => socket.once("secureConnect", resolve));
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "host: kubernetes",
    `authorization: Bearer ${token}`,
    "cookie: secret=1",
    "connection: Upgrade",
    `upgrade: ${protocol}`,
    "sec-websocket-protocol: v5.channel.k8s.io",
    "x-stream-protocol-version: v4.channel.k8s.io",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return { socket, until: untilOf(socket) };
}

function untilOf(socket: TLSSocket): (text: string) => Promise<string> {
  let received = "";
  let wake = () => {};
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    wake();
  });
  socket.on("close", () => wake());
  return async (text) => {
    while (!received.includes(text)) {
      if (socket.destroyed) throw new Error(`the connection ended with ${JSON.stringify(received)}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
    return received;
  };
}

describe("sessions", () => {
  test.each([
    [
      "GET",
      "exec?command=echo&command=a%20b&stdin=true&stdout=1&stderr=0&tty=false",
      "websocket",
      "exec/%/bound/main?input=1&output=1&command=echo&command=a+b",
    ],
    ["POST", "exec?command=sh&container=main&tty=true", "SPDY/3.1", "exec/%/bound/main?tty=1&command=sh"],
    ["POST", "attach?stdin=true", "SPDY/3.1", "attach/%/bound/main?input=1"],
    ["GET", "portforward?ports=80,81&ports=82", "websocket", "portForward/%/bound?port=80%2C81%2C82"],
  ])("%s %s over %s passes bytes both ways until one side ends", async (method, path, protocol, agentPath) => {
    const closed = Promise.withResolvers<void>();
    agent.upgrade = (request, socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${request.headers.upgrade}\r\n`,
      );
      socket.write("sec-websocket-protocol: v5.channel.k8s.io\r\n\r\nhello ");
      socket.on("data", (chunk: Buffer) => socket.write(Buffer.concat([Buffer.from("echo:"), chunk])));
      socket.once("close", () => closed.resolve());
    };
    const { socket, until } = await upgrade(method, `${pods}/bound/${path}`, protocol);
    const head = await until("hello ");
    expect(head).toStartWith("HTTP/1.1 101 Switching Protocols\r\n");
    expect(head).toContain(`upgrade: ${protocol}\r\n`);
    expect(head).toContain("sec-websocket-protocol: v5.channel.k8s.io\r\n");
    socket.write(Buffer.from([0x00, 0xff, 0x41]));
    await until("echo:\u0000\u00ffA");
    const [seen] = agent.seen;
    expect({ method: seen?.method, url: seen?.url, client: seen?.client }).toEqual({
      method,
      url: `/${agentPath.replace("%", namespace)}`,
      client: "kube-apiserver-kubelet-client",
    });
    expect(seen?.headers).toMatchObject({ upgrade: protocol, "x-stream-protocol-version": "v4.channel.k8s.io" });
    expect(seen?.headers).not.toContainAnyKeys(["authorization", "cookie"]);
    socket.destroy();
    await closed.promise;
  });

  test("CVE-2018-1002105: that the agent refuses are refused, and nothing more is sent over the connection", async () => {
    agent.upgrade = (_request, socket) =>
      socket.end("HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nno no");
    const { socket, until } = await upgrade("GET", `${pods}/bound/exec?command=sh`, "websocket");
    socket.write("GET /api/v1/secrets HTTP/1.1\r\n\r\n");
    const text = await until("no no");
    expect(text).toStartWith("HTTP/1.1 403 Forbidden\r\n");
    expect(text).toContain("connection: close\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    expect(agent.seen).toHaveLength(1);
  });

  test.each([
    ["GET", "bound/exec?command=sh", 400, "Upgrade request required"],
    ["POST", "bound/attach", 400, "Upgrade request required"],
    ["GET", "free/exec?command=sh", 400, "pod free does not have a host assigned"],
    ["POST", "free/portforward", 400, "pod free does not have a host assigned"],
    [
      "GET",
      "two/exec",
      400,
      "a container name must be specified for pod two, choose one of: [a b] or one of the init containers: [first]",
    ],
    ["GET", "missing/attach", 404, 'pods "missing" not found'],
    ["GET", "silent/exec", 500, "no preferred addresses found; known addresses: []"],
    ["PUT", "bound/exec", 405, "the server does not allow this method on the requested resource"],
  ])("%s %s without an upgrade is a %d", async (method, path, code, message) => {
    const answer = await server.request(method, `${pods}/${path}`);
    expect({ code: answer.code, message: answer.json.message }).toEqual({ code, message });
  });

  test("to an unreachable agent are an error that says so", async () => {
    const { until } = await upgrade("GET", `${pods}/gone/exec?command=sh`, "websocket");
    const text = await until("}\n");
    expect(text).toStartWith("HTTP/1.1 500 ");
    expect(text).toContain('"error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused"');
  });

  test("need credentials, like every request", async () => {
    const { until } = await upgrade("GET", `${pods}/bound/exec?command=sh`, "websocket", "wrong");
    expect(await until("\r\n")).toStartWith("HTTP/1.1 401 ");
    expect(agent.seen).toEqual([]);
  });

  test("an upgrade is ignored on any other request", async () => {
    const { socket, until } = await upgrade("GET", "/version", "websocket");
    expect(await until("gitVersion")).toStartWith("HTTP/1.1 200 OK\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
  });
});

test("a WebSocket session is not a read: get on the subresource does not suffice", async () => {
  const directory = mkdtempSync(join(tmpdir(), "quorate-connect-"));
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(tokenAuthFile, "reader-token,reader,1\n");
  await using strict = await TestServer.start({ authorizationMode: ["RBAC"], tokenAuthFile });
  rmSync(directory, { recursive: true });
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const rules = [{ apiGroups: [""], resources: ["pods/exec"], verbs: ["get"] }];
  await strict.create(`${rbac}/clusterroles`, { metadata: { name: "reader" }, rules });
  await strict.create(`${rbac}/clusterrolebindings`, {
    metadata: { name: "reader" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "reader" }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
  });
  await agent.register(strict, "n1");
  const own = `/api/v1/namespaces/${await strict.namespace()}/pods`;
  await strict.create(own, pod("bound", { nodeName: "n1" }));
  const { until } = await upgrade("GET", `${own}/bound/exec?command=sh`, "websocket", "reader-token", strict);
  const text = await until("}\n");
  expect(text).toStartWith("HTTP/1.1 403 ");
  expect(text).toContain('User \\"reader\\" cannot create resource \\"pods/exec\\"');
  expect(agent.seen).toEqual([]);
});

describe("proxies", () => {
  const host = ownAddress();
  let agent: NodeAgent;

  beforeAll(async () => {
    agent = await NodeAgent.start(host);
    await agent.register(server, "far", host);
  });
  afterAll(() => agent[Symbol.asyncDispose]());
  beforeEach(() => {
    agent.seen.length = 0;
  });

  test("to a node's agent pass on method, path, query and body unchanged, and the answer", async () => {
    agent.answer = (request, response) => {
      response.writeHead(201, {
        "content-type": "text/x",
        "x-own": "1",
        "set-cookie": ["a", "b"],
        connection: "close",
      });
      response.end(`got ${request.body}`);
    };
    const { code, text, headers } = await server.post("/api/v1/nodes/far/proxy/a%2Fb/c%20d/?q=%3D&r", "body", {
      type: "text/y",
      headers: { "x-mine": "2", cookie: "secret", "impersonate-user": "" },
    });
    expect({ code, text, own: headers.get("x-own"), type: headers.get("content-type") }).toEqual({
      code: 404,
      text: expect.stringContaining("could not find the requested resource"),
      own: null,
      type: "application/json",
    });
    const fine = await server.post("/api/v1/nodes/far/proxy/a/c%20d/?q=%3D&r", "body", {
      type: "text/y",
      headers: { "x-mine": "2", cookie: "secret" },
    });
    expect({
      code: fine.code,
      text: fine.text,
      own: fine.headers.get("x-own"),
      type: fine.headers.get("content-type"),
    }).toEqual({
      code: 201,
      text: "got body",
      own: "1",
      type: "text/x",
    });
    const [seen] = agent.seen;
    expect(seen).toMatchObject({ method: "POST", url: "/a/c%20d/?q=%3D&r", body: "body" });
    expect(seen?.headers).toMatchObject({ "x-mine": "2", "content-type": "text/y" });
    expect(seen?.headers).not.toContainAnyKeys(["authorization", "cookie"]);
  });

  test("without a path are for the root of the backend", async () => {
    agent.answer = (_request, response) => response.end("x");
    await server.post("/api/v1/nodes/far/proxy?a=/b", "body");
    expect(agent.seen[0]?.url).toBe("/?a=/b");
  });

  test.each(["PUT", "PATCH", "DELETE", "HEAD"])("pass on %s", async (method) => {
    agent.answer = (_request, response) => response.end("x");
    const { code } = await server.request(
      method,
      "/api/v1/nodes/far/proxy/stats",
      method === "HEAD" ? {} : { body: "b" },
    );
    expect({ code, method: agent.seen[0]?.method }).toEqual({ code: 200, method });
  });

  test("CVE-2020-8559: give redirects to the client, and send a bare one to the path with a slash", async () => {
    agent.answer = (_request, response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    const passed = await fetch(`${server.running.url}/api/v1/nodes/far/proxy/x`, {
      tls: { ca: server.running.ca },
      headers: { authorization: `Bearer ${server.running.token}` },
      redirect: "manual",
    });
    expect([passed.status, passed.headers.get("location")]).toEqual([302, "http://169.254.169.254/"]);
    const bare = await fetch(`${server.running.url}/api/v1/nodes/far/proxy?a=/b?c`, {
      tls: { ca: server.running.ca },
      headers: { authorization: `Bearer ${server.running.token}` },
      redirect: "manual",
    });
    expect([bare.status, bare.headers.get("location")]).toEqual([301, "/api/v1/nodes/far/proxy/?a=/b?c"]);
  });

  test.each([
    ["/api/v1/nodes/missing/proxy/x", 404, 'nodes "missing" not found'],
    ["/api/v1/nodes/ftp:n1:80/proxy/x", 400, 'invalid node request "ftp:n1:80"'],
    ["/api/v1/nodes/n1:80/proxy/x", 400, "address not allowed"],
    [
      "/api/v1/nodes/far-gone/proxy/x",
      503,
      `error trying to reach service: dial tcp ${ownAddress()}:1: connect: connection refused`,
    ],
    ["/api/v1/nodes/n1/proxy/x", 400, "address not allowed"],
    ["/api/v1/nodes/metadata/proxy/x", 400, "address not allowed"],
    ["/api/v1/nodes/localhost/proxy/x", 400, "address not allowed"],
    ["/api/v1/namespaces/%/pods/bound/proxy/x", 400, "address not allowed"],
    ["/api/v1/namespaces/%/pods/a:b:c:d/proxy/x", 400, 'invalid pod request "a:b:c:d"'],
    ["/api/v1/namespaces/%/services/none/proxy/x", 404, 'services "none" not found'],
  ])("%s is a %d", async (path, code, message) => {
    const answer = await server.get(path.replace("%", namespace));
    expect({ code: answer.code, message: answer.json.message }).toEqual({ code, message });
  });

  test.each(["127.0.0.1", "169.254.169.254", "::1", "0.0.0.0"])(
    "do not go to %s, whatever the pod's status",
    async (ip) => {
      await server.patch(`${pods}/bound/status`, mergePatch, { status: { podIP: ip, podIPs: [{ ip }] } });
      const { code, json } = await server.get(`${pods}/bound/proxy/x`);
      expect({ code, message: json.message }).toEqual({ code: 400, message: "address not allowed" });
    },
  );

  test("reach a port of a pod and an endpoint of a service, by number and by name", async () => {
    const web = createServer((request, response) => response.end(`web ${request.url}`));
    await new Promise<void>((resolve) => web.listen(0, host, resolve));
    const { port } = web.address() as { port: number };
    try {
      const ports = [{ name: "http", containerPort: port }];
      await server.create(pods, pod("web", { containers: [{ name: "m", image: "i", ports }] }));
      await server.patch(`${pods}/web/status`, mergePatch, { status: { podIP: host, podIPs: [{ ip: host }] } });
      for (const name of ["web", `web:${port}`, `http:web:${port}`]) {
        expect((await server.get(`${pods}/${name}/proxy/a?b`)).text).toBe("web /a?b");
      }

      const services = `/api/v1/namespaces/${namespace}/services`;
      await server.create(services, { metadata: { name: "web" }, spec: { ports: [{ name: "http", port: 80 }] } });
      const unknown = await server.get(`${services}/web:http/proxy/a`);
      expect({ code: unknown.code, message: unknown.json.message }).toEqual({
        code: 404,
        message: 'services "web" not found',
      });
      await server.create(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
        metadata: { name: "web", labels: { "kubernetes.io/service-name": "web" } },
        addressType: "IPv4",
        ports: [{ name: "http", port }],
        endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: false } }, { addresses: [host] }],
      });
      for (const name of ["web:http", "web:80"]) {
        expect((await server.get(`${services}/${name}/proxy/a`)).text).toBe("web /a");
      }
      const wrong = await server.get(`${services}/web:81/proxy/a`);
      expect({ code: wrong.code, message: wrong.json.message }).toEqual({
        code: 503,
        message: 'no service port 81 found for service "web"',
      });
    } finally {
      web.close();
    }
  });
});

describe("with --kubelet-certificate-authority", () => {
  const directory = mkdtempSync(join(tmpdir(), "quorate-kubelet-authority-"));
  const file = join(directory, "authority.pem");
  afterAll(() => rmSync(directory, { recursive: true }));

  test.each([
    ["its own", true, ["fine", "fine"]],
    ["another", false, [expect.stringContaining(unknownAuthority), expect.stringContaining(unknownAuthority)]],
  ])("a kubelet with a certificate of %s authority", async (_, isTrusted, expected) => {
    const host = ownAddress();
    await using kubelet = await NodeAgent.start(host);
    await using other = await NodeAgent.start(host);
    kubelet.answer = (_request, response) => response.end("fine");
    writeFileSync(file, isTrusted ? kubelet.authority : other.authority);
    const careful = await TestServer.start({ kubeletCertificateAuthority: file });
    try {
      await kubelet.register(careful, "n1", host);
      const own = `/api/v1/namespaces/${await careful.namespace()}/pods`;
      await careful.create(own, pod("bound", { nodeName: "n1" }));
      const replies = [await careful.get(`${own}/bound/log`), await careful.get("/api/v1/nodes/n1/proxy/x")];
      expect(replies.map((reply) => (reply.code === 200 ? reply.text : reply.json.message))).toEqual(expected as never);
      expect(kubelet.seen).toHaveLength(isTrusted ? 2 : 0);
    } finally {
      await careful.close();
    }
  });
});
