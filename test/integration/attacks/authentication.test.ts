import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "../../../src/access/certificates/authority.ts";
import { detachedSignature } from "../../../src/controllers/bootstrap-tokens.ts";
import { auditLine } from "../audit-line.ts";
import { NodeAgent } from "../node-agent.ts";
import { ownAddress } from "../own-address.ts";
import { bearer, type RawAnswer, rawRequest, rawWhoAmI, type Sent } from "../raw-request.ts";
import { pod, TestServer } from "../server.ts";

/**
 * Attacks on authentication, through real connections. 6 to 13, on tokens of service accounts, have a file of their own.
 */

const directory = mkdtempSync(join(tmpdir(), "quorate-attacks-"));
const inDirectory = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const core = "/api/v1/namespaces/default";
const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
const names = { dnsNames: [], ipAddresses: [], organizations: [] };
const clients = createAuthority({ commonName: "clients", ...validity });
const alice = issueCertificate(clients, { ...validity, ...names, commonName: "alice", usage: "client" });
const bootstrapToken = "abcdef.0123456789abcdef";

const auditLogPath = join(directory, "audit.log");
let server: TestServer;
let agent: NodeAgent;
beforeAll(async () => {
  const policy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };
  [server, agent] = await Promise.all([
    TestServer.start({
      authorizationMode: ["RBAC"],
      tokenAuthFile: inDirectory("tokens.csv", "bob-token,bob,1\n"),
      clientCaFile: inDirectory("clients.crt", clients.certificate),
      enableBootstrapTokenAuth: true,
      auditPolicyFile: inDirectory("policy.json", JSON.stringify(policy)),
      auditLogPath,
    }),
    NodeAgent.start(ownAddress()),
  ]);
  await agent.register(server, "n1", ownAddress());
  await server.create(`${core}/pods`, pod("p", { nodeName: "n1" }));
});
afterAll(async () => {
  await Promise.all([server[Symbol.asyncDispose](), agent[Symbol.asyncDispose]()]);
  rmSync(directory, { recursive: true });
});

const send = (headers: Sent, more: Partial<Parameters<typeof rawRequest>[0]> = {}): Promise<RawAnswer> =>
  rawRequest({ port: server.running.port, ca: server.running.ca, headers, ...more });

const whoAmI = (headers: Sent, pair?: KeyPair) => rawWhoAmI(server.running, headers, pair);
const asToken = (token: string) => whoAmI(bearer(token));

describe("attack 1: a request without credentials is anonymous, or refused where that is disabled", () => {
  test("anonymous has the rights of anonymous only", async () => {
    expect((await send([], { path: "/livez" })).code).toBe(200);
    const { code, text } = await send([], { path: `${core}/secrets` });
    expect([code, text.includes('User \\"system:anonymous\\" cannot list resource \\"secrets\\"')]).toEqual([
      403,
      true,
    ]);
  });

  test("where it is off, the answer is a 401 whose Status gives no reason", async () => {
    await using closed = await TestServer.start({ anonymousAuth: false });
    const { code, json, headers } = await closed.get("/livez", { token: "" });
    expect(code).toBe(401);
    expect(json).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
    expect(headers.get("www-authenticate")).toBeNull();
  });
});

describe("attack 2: of two Authorization headers neither wins", () => {
  test.each<[string, Sent]>([
    ["good and bad", [...bearer("bob-token"), ...bearer("wrong")]],
    ["bad and good", [...bearer("wrong"), ...bearer("bob-token")]],
    ["twice the same", [...bearer("bob-token"), ...bearer("bob-token")]],
    ["joined by a comma", bearer("bob-token, Bearer bob-token")],
    ["joined without a blank", bearer("bob-token,bob-token")],
  ])("%s", async (_name, headers) => {
    expect([400, 401]).toContain((await whoAmI(headers)) as number);
  });
});

describe("attack 3: a bearer token has one form", () => {
  test.each<[string, string, string | number]>([
    ["the scheme has no case", "bearer bob-token", "bob"],
    ["nor in capitals", "BEARER bob-token", "bob"],
    ["two blanks", "Bearer  bob-token", 401],
    ["a tab", "Bearer\tbob-token", 401],
    ["a token and more", "Bearer bob-token x", 401],
    ["beyond ASCII", "Bearer bob-tok\u00e9n", 401],
    ["a megabyte", `Bearer ${"x".repeat(1 << 20)}`, 431],
    ["the longest that fits", `Bearer ${"x".repeat(60_000)}`, 401],
    // An empty token counts as no credential, as clients expect, and an anonymous user may not do anything.
    ["no token", "Bearer ", "system:anonymous"],
    ["another scheme", "Basic Ym9iOmJvYg==", "system:anonymous"],
  ])("%s", async (_name, value, expected) => {
    const outcome = await whoAmI([["authorization", value]]);
    // A head that is too long may also just end the connection.
    expect(expected === 431 && outcome === 0 ? 431 : outcome).toBe(expected);
  });

  test("a NUL is neither a token nor a header", async () => {
    expect([0, 400, 401]).toContain((await asToken("bob-token\0")) as number);
  });
});

test("attack 4: an invalid token is a 401 although the client certificate is good", async () => {
  expect(await whoAmI([], alice)).toBe("alice");
  expect(await whoAmI(bearer("wrong"), alice)).toBe(401);
});

test("attack 5: a token in the query or in the body means nothing", async () => {
  for (const query of ["access_token=bob-token", "token=bob-token", "authorization=Bearer%20bob-token"]) {
    const { code, text } = await send([], { path: `${core}/pods?${query}` });
    expect([code, text.includes("system:anonymous")]).toEqual([403, true]);
  }
  const form: Sent = [["content-type", "application/x-www-form-urlencoded"]];
  const { text } = await send(form, { method: "POST", path: `${core}/pods`, body: "access_token=bob-token" });
  expect(text).toContain("system:anonymous");
});

describe("attack 14: a bootstrap token is one Secret of one name, type and namespace", () => {
  const secret = async (change: object = {}, data: object = {}, namespace = "kube-system") => {
    const stringData = { "token-id": "abcdef", "token-secret": "0123456789abcdef", ...data };
    const usage = { "usage-bootstrap-authentication": "true" };
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const object = { metadata: { name: "bootstrap-token-abcdef" }, type: "bootstrap.kubernetes.io/token" };
    const made = await server.create(path, { ...object, stringData: { ...usage, ...stringData }, ...change });
    const remove = () => server.delete(`${path}/${made.metadata.name}`);
    return { [Symbol.asyncDispose]: async () => void (await remove()) };
  };

  test("the good one is good, and every other spelling of it is not", async () => {
    await using _secret = await secret();
    expect(await asToken(bootstrapToken)).toBe("system:bootstrap:abcdef");
    for (const token of [
      bootstrapToken.toUpperCase(),
      "ABCDEF.0123456789abcdef",
      "abcdef0123456789abcdef",
      "abcdef.0123456789abcde",
      "abcdef.0123456789abcdef0",
      "abcde.0123456789abcdef",
      "abcdef..0123456789abcdef",
      "../abcdef.0123456789abcdef",
      "abcdef.0123456789abcdeg",
    ]) {
      expect(await asToken(token)).toBe(401);
    }
  });

  test.each<[string, object, object, string]>([
    ["another usage", {}, { "usage-bootstrap-authentication": "TRUE" }, "kube-system"],
    ["a usage with a blank", {}, { "usage-bootstrap-authentication": "true " }, "kube-system"],
    ["an end in the past", {}, { expiration: "2020-01-01T00:00:00Z" }, "kube-system"],
    ["an end that is none", {}, { expiration: "soon" }, "kube-system"],
    ["a group of others", {}, { "auth-extra-groups": "system:bootstrappers:a,system:masters" }, "kube-system"],
    ["a group that only begins so", {}, { "auth-extra-groups": "system:bootstrappersx" }, "kube-system"],
    ["another id", {}, { "token-id": "fedcba" }, "kube-system"],
    ["another type", { type: "Opaque" }, {}, "kube-system"],
    ["another namespace", {}, {}, "default"],
    ["another name", { metadata: { name: "bootstrap-token-abcdeg" } }, {}, "kube-system"],
  ])("%s", async (_name, change, data, namespace) => {
    await using _secret = await secret(change, data, namespace);
    expect(await asToken(bootstrapToken)).toBe(401);
  });

  test("rejected credentials are not recorded", async () => {
    const [tried, auditId] = ["zzzzzz.canarycanary1234", "tried-token"];
    expect(await whoAmI([...bearer(tried), ["audit-id", auditId]])).toBe(401);
    expect(await auditLine(auditLogPath, auditId)).toBeDefined();
    expect(readFileSync(auditLogPath, "utf8")).not.toContain("canarycanary1234");
  });
});

test("attack 15: cluster-info is signed with HS256, whatever the token's id", () => {
  for (const id of ["abcdef", 'x","alg":"none', "x\\", "\u2028"]) {
    const [header = "", payload] = detachedSignature("clusters: []", id, "key").split(".");
    expect(payload).toBe("");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "HS256", kid: id });
  }
});

test("attack 16: a token file that names a token twice is a reason not to start", async () => {
  const file = inDirectory("twice.csv", "same-token,a,1\nother,b,2\nsame-token,c,3\n");
  const failure = await TestServer.start({ tokenAuthFile: file }).then(
    () => "",
    (error: Error) => error.message,
  );
  expect(failure).toMatch(/twice\.csv:3: the token occurs twice/);
  expect(failure).not.toContain("same-token");
});

describe("attack 19: a client's claims about itself do not reach servers that this server calls for it", () => {
  test.each<[string, Sent]>([
    ["as it is", []],
    ["as headers of the connection", [["connection", "x-remote-user, authorization, impersonate-user"]]],
  ])("%s", async (_name, more) => {
    agent.seen.length = 0;
    const own: Sent = [
      ["X-Remote-User", "root"],
      ["X-REMOTE-Group", "system:masters"],
      ["x-remote-extra-scope", "all"],
      ["cookie", "session=1"],
      ["proxy-authorization", "Basic x"],
    ];
    const path = "/api/v1/nodes/n1/proxy/pods";
    const { code } = await send([...bearer(server.running.token), ...own, ...more], { path });
    expect(code).toBe(200);
    expect(
      Object.keys(agent.seen[0]?.headers ?? {}).filter((name) => /remote|author|imperson|cookie/.test(name)),
    ).toEqual([]);
  });
});

describe("attack 21: a token among the subprotocols of a WebSocket", () => {
  const prefix = "base64url.bearer.authorization.k8s.io.";
  const encoded = (token: string) => prefix + Buffer.from(token).toString("base64url");
  const upgrade = (...protocols: string[]): Sent => [
    ["connection", "Upgrade"],
    ["upgrade", "websocket"],
    ["sec-websocket-version", "13"],
    ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
    ...protocols.map((protocol) => ["sec-websocket-protocol", protocol] as const),
  ];
  const path = `${core}/pods/p/exec?command=sh`;
  test.each<[string, Sent, number]>([
    ["that is no base64", upgrade(`${prefix}$$$$`), 401],
    ["with padding", upgrade(`${encoded("bob-token")}==`), 401],
    ["that is empty", upgrade(prefix), 401],
    ["that nobody knows", upgrade(encoded("wrong")), 401],
    ["that is there twice", upgrade(`${encoded("bob-token")}, ${encoded("bob-token")}`), 401],
    ["that is there twice, in two headers", upgrade(encoded("bob-token"), encoded("bob-token")), 401],
    ["beside a wrong one in the header", [...bearer("wrong"), ...upgrade(encoded("bob-token"))], 401],
    ["is its user's, with no more rights", upgrade(`${encoded("bob-token")}, v5.channel.k8s.io`), 403],
  ])("%s", async (_name, headers, code) => {
    expect((await send(headers, { path })).code).toBe(code);
  });

  test("is revealed neither to the node nor to the client", async () => {
    agent.seen.length = 0;
    agent.upgrade = (request, socket) => {
      const protocol = `sec-websocket-protocol: ${request.headers["sec-websocket-protocol"]}`;
      socket.end(`HTTP/1.1 403 Forbidden\r\n${protocol}\r\ncontent-length: 0\r\n\r\n`);
    };
    const token = encoded(server.running.token);
    const { text } = await send(upgrade(`${token}, v5.channel.k8s.io`), { path });
    expect(agent.seen[0]?.headers["sec-websocket-protocol"]).toBe("v5.channel.k8s.io");
    expect(text).not.toContain(prefix);
  });
});

describe("attack 22: no client can act as the server itself", () => {
  test("its own certificate is not a client's (CVE-2018-16886)", async () => {
    const own = await TestServer.start({
      tlsCertFile: inDirectory("tls.crt", serving.certificate),
      tlsPrivateKeyFile: inDirectory("tls.key", serving.key),
      clientCaFile: join(directory, "clients.crt"),
    });
    const session = connect(own.running.url, { ca: clients.certificate, cert: serving.certificate, key: serving.key });
    const { promise, resolve } = Promise.withResolvers<number>();
    session.request({ ":path": "/api" }).on("response", (fields) => resolve(Number(fields[":status"])));
    expect(await promise).toBe(401);
    session.destroy();
    await own.close();
  });

  test("no token makes one system:apiserver: the server has none, and asks itself without a connection", async () => {
    expect(await asToken(server.running.token)).toBe("kubernetes-admin");
    expect(await asToken("system:apiserver")).toBe(401);
  });

  const serving = issueCertificate(clients, {
    ...validity,
    commonName: "system:apiserver",
    organizations: ["system:masters"],
    usage: "server",
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
  });
});

test("attack 63: users are counted by kind, so that no name becomes a metric", async () => {
  for (const token of ["bob-token", "wrong", server.running.token]) await asToken(token);
  const { text } = await server.get("/metrics");
  const lines = text.split("\n").filter((line) => /^authenticat(ion_attempts|ed_user_requests)\{/.test(line));
  expect(lines.map((line) => line.replace(/ \d+$/, ""))).toEqual([
    ...["success", "failure", "error"].map((result) => `authentication_attempts{result="${result}"}`),
    ...[
      "admin",
      "client",
      "kube_proxy",
      "kubelet",
      "system:serviceaccount:kube-system:default",
      "email_id",
      "other",
    ].map((name) => `authenticated_user_requests{username="${name}"}`),
  ]);
  const valueOf = (label: string) => Number(lines.find((line) => line.includes(label))?.split(" ")[1]);
  expect(valueOf('"success"')).toBeGreaterThan(1);
  expect(valueOf('"failure"')).toBeGreaterThan(0);
  expect(valueOf('"other"')).toBe(valueOf('"success"'));
});

test("CVE-2019-11250, CVE-2020-8563, CVE-2020-8566: no credential reaches the log, however much is logged", async () => {
  const written = spyOn(process.stderr, "write").mockImplementation(() => true);
  const canary = "canary0123456789";
  try {
    await using loud = await TestServer.start({ verbosity: 10, enableBootstrapTokenAuth: true });
    const { running } = loud;
    const review = JSON.stringify({ kind: "TokenReview", spec: { token: `review-${canary}` } });
    const json: Sent = [["content-type", "application/json"], ...bearer(running.token)];
    const reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    const secret = JSON.stringify({ metadata: { name: "s" }, stringData: { key: canary } });
    for (const options of [
      { headers: bearer(`wrong-${canary}`) },
      { headers: bearer(`abcdef.${canary}`) },
      { headers: bearer(`${base64url({ alg: "none" })}.${base64url({ iss: "kubernetes/serviceaccount" })}.${canary}`) },
      { headers: [["authorization", `Basic ${canary}`]] as Sent },
      { headers: json, path: `/api?access_token=${canary}` },
      { headers: json, method: "POST", path: reviews, body: review },
      { headers: json, method: "POST", path: `${core}/secrets`, body: secret },
    ]) {
      expect((await rawRequest({ ...running, path: "/api", ...options })).code).toBeGreaterThan(0);
    }
    const log = written.mock.calls.map(([line]) => String(line)).join("");
    expect(log).toContain("a credential was refused");
    expect(log).not.toContain(canary);
    expect(log).not.toContain(Buffer.from(canary).toString("base64"));
    expect(log).not.toContain(running.token);
  } finally {
    written.mockRestore();
  }
});

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
