import "reflect-metadata";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import * as x509 from "@peculiar/x509";
import type { KeyPair } from "../../../src/access/certificates/authority.ts";
import { type Clock, systemClock } from "../../../src/process/clock.ts";
import { until } from "../../until.ts";
import { rawRequest, rawWhoAmI, type Sent } from "../raw-request.ts";
import { TestServer } from "../server.ts";

/** Attacks with client certificates and with the headers of proxies, through real connections. */

const hourMs = 3_600_000;
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const rsaSha1 = {
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-1",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
type Algorithm = typeof algorithm | typeof rsaSha1;

interface Issued extends KeyPair {
  readonly name: string;
  readonly keys: CryptoKeyPair;
}
interface Request {
  readonly issuer?: Issued;
  readonly usages?: string[];
  readonly isAuthority?: boolean;
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly algorithm?: Algorithm;
}
let serial = 16;

/** Makes a certificate of any form; self-signed without an issuer. */
async function issue(name: string, request: Request = {}): Promise<Issued> {
  const { issuer, usages = [clientAuth], isAuthority = false, algorithm: kind = algorithm } = request;
  const keys = (await crypto.subtle.generateKey(kind, true, ["sign", "verify"])) as CryptoKeyPair;
  const signingKeys = issuer?.keys ?? keys;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: (++serial).toString(16),
    subject: name,
    issuer: issuer?.name ?? name,
    notBefore: new Date(Date.now() + (request.fromMs ?? -hourMs)),
    notAfter: new Date(Date.now() + (request.untilMs ?? hourMs)),
    publicKey: keys.publicKey,
    signingKey: signingKeys.privateKey,
    signingAlgorithm: { ...kind, ...signingKeys.privateKey.algorithm } as Algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority, undefined, true),
      ...(usages.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension(usages)]),
    ],
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { name, keys, key, certificate: `${certificate.toString("pem")}\n` };
}

const directory = mkdtempSync(join(tmpdir(), "quorate-attacks-"));
const [clientsFile, proxiesFile] = [join(directory, "clients.crt"), join(directory, "proxies.crt")];
const authority = { isAuthority: true, usages: [] };
const [clients, rsaClients, proxies, strangers] = await Promise.all([
  issue("CN=clients", authority),
  issue("CN=RSA clients", { ...authority, algorithm: rsaSha1 }),
  issue("CN=proxies", authority),
  issue("CN=strangers", authority),
]);
const front = await issue("CN=front", { issuer: proxies });

let skewMs = 0;
const clock: Clock = {
  ...systemClock,
  nowMs: () => Date.now() + skewMs,
  every: (ms, run) => systemClock.every(Math.min(ms, 20), run),
};
/** One server knows only client authorities, the other knows proxies too. */
let server: TestServer;
let behindProxies: TestServer;

beforeAll(async () => {
  writeFileSync(clientsFile, clients.certificate + rsaClients.certificate);
  writeFileSync(proxiesFile, proxies.certificate);
  const options = { clock, clientCaFile: clientsFile, authorizationMode: ["RBAC"] as const };
  [server, behindProxies] = await Promise.all([
    TestServer.start({ ...options, authorizationMode: ["RBAC"] }),
    TestServer.start({
      ...options,
      authorizationMode: ["RBAC"],
      requestheaderClientCaFile: proxiesFile,
      requestheaderAllowedNames: ["front"],
      requestheaderUsernameHeaders: ["X-Remote-User"],
      requestheaderGroupHeaders: ["X-Remote-Group"],
      requestheaderExtraHeadersPrefix: ["X-Remote-Extra-"],
    }),
  ]);
});
afterAll(async () => {
  await Promise.all([server[Symbol.asyncDispose](), behindProxies[Symbol.asyncDispose]()]);
  rmSync(directory, { recursive: true });
});

/** Returns a session from a TLS connection with the certificate. */
async function ticketOf({ running: { port, ca } }: TestServer, pair: KeyPair): Promise<Buffer> {
  const { certificate: cert, key } = pair;
  const socket = connectTls({ port, host: "127.0.0.1", ca, cert, key, ALPNProtocols: ["http/1.1"] });
  socket.write("GET /livez HTTP/1.1\r\nhost: kubernetes\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  const session = socket.getSession();
  socket.destroy();
  if (session === undefined) throw new Error("the connection left no session");
  return session;
}

/** Returns the answer on a connection that resumes a session and shows no certificate. */
async function resume({ running: { port, ca } }: TestServer, session: Buffer) {
  const socket = connectTls({ port, host: "127.0.0.1", ca, session, ALPNProtocols: ["http/1.1"] });
  socket.write("GET /api HTTP/1.1\r\nhost: kubernetes\r\n\r\n");
  const text = await new Promise<string>((resolve, reject) => {
    socket.once("data", (chunk) => resolve(chunk.toString()));
    socket.once("error", reject);
  });
  const reused = socket.isSessionReused();
  socket.destroy();
  return { code: Number(text.split(" ", 2)[1]), reused };
}

/** Not identified: refused, or anonymous. */
const nobody = [0, 401, "system:anonymous"];

describe("attack 17: an invalid client certificate authenticates no user (CVE-2016-7075)", () => {
  const chain = async (isAuthority: boolean): Promise<KeyPair> => {
    const middle = await issue("CN=middle", { issuer: clients, isAuthority });
    const leaf = await issue("CN=mallory", { issuer: middle });
    return { key: leaf.key, certificate: leaf.certificate + middle.certificate };
  };
  test.each<[string, () => Promise<KeyPair>]>([
    ["expired", () => issue("CN=mallory", { issuer: clients, fromMs: -2 * hourMs, untilMs: -hourMs })],
    ["not valid yet", () => issue("CN=mallory", { issuer: clients, fromMs: hourMs, untilMs: 2 * hourMs })],
    ["for servers", () => issue("CN=mallory", { issuer: clients, usages: [serverAuth] })],
    ["for nothing in particular", () => issue("CN=mallory", { issuer: clients, usages: [] })],
    ["signed by itself", () => issue("CN=mallory")],
    ["signed by itself in the name of the authority", () => issue("CN=clients", { usages: [clientAuth] })],
    ["of another authority", () => issue("CN=mallory", { issuer: strangers })],
    [
      "of another authority of the same name",
      async () => {
        const impostor = await issue("CN=clients", authority);
        return issue("CN=mallory", { issuer: impostor });
      },
    ],
    ["of a certificate that is no authority", () => chain(false)],
    ["signed with SHA-1", () => issue("CN=mallory", { issuer: rsaClients, algorithm: rsaSha1 })],
    ["without a common name", () => issue("O=dev", { issuer: clients })],
    ["with two common names", () => issue("CN=mallory, CN=kubernetes-admin", { issuer: clients })],
    ["with two uids", () => issue("CN=mallory, 1.3.6.1.4.1.57683.2=1, 1.3.6.1.4.1.57683.2=2", { issuer: clients })],
    ["for anonymous", () => issue("CN=system:anonymous", { issuer: clients })],
    ["for those who are nobody", () => issue("CN=mallory, O=system:unauthenticated", { issuer: clients })],
  ])("%s", async (_name, make) => {
    expect(nobody).toContain(await rawWhoAmI(server.running, [], await make()));
  });

  test("the good one is good, through an authority in between too", async () => {
    expect(await rawWhoAmI(server.running, [], await issue("CN=mallory", { issuer: clients }))).toBe("mallory");
    expect(await rawWhoAmI(server.running, [], await chain(true))).toBe("mallory");
  });

  test("the good one may say a uid", async () => {
    const { certificate, key } = await issue("CN=mallory, 1.3.6.1.4.1.57683.2=uid-7", { issuer: clients });
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const headers: Sent = [["content-type", "application/json"]];
    const { port, ca } = server.running;
    const { text } = await rawRequest({ port, ca, method: "POST", path, headers, body, pair: { certificate, key } });
    expect(text).toContain('"username":"mallory","uid":"uid-7"');
  });

  test("of the proxies' authority and in system:masters", async () => {
    const pair = await issue("CN=front, O=system:masters", { issuer: proxies });
    for (const { running } of [server, behindProxies]) expect(nobody).toContain(await rawWhoAmI(running, [], pair));
  });

  test("a connection is unauthenticated once its certificate has expired, resumed or not", async () => {
    const { certificate, key } = await issue("CN=brief", { issuer: clients });
    const { url, ca } = server.running;
    const session = connect(url, { ca, cert: certificate, key });
    const codeOf = () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      const stream = session.request({ ":path": "/api" });
      stream.on("response", (fields) => resolve(Number(fields[":status"])));
      stream.on("error", () => resolve(0));
      return promise;
    };
    const ticket = await ticketOf(server, { certificate, key });
    try {
      expect(await codeOf()).toBe(200);
      expect(await resume(server, ticket)).toEqual({ code: 200, reused: true });
      skewMs = hourMs + 1_000;
      expect(await codeOf()).toBe(401);
      expect(await resume(server, ticket)).toEqual({ code: 401, reused: true });
    } finally {
      skewMs = 0;
      session.destroy();
    }
  });

  test("certificates of an authority that was removed from its file count no more, on open and resumed connections", async () => {
    const file = join(directory, "changing.crt");
    writeFileSync(file, clients.certificate + strangers.certificate);
    await using own = await TestServer.start({ clock, clientCaFile: file, authorizationMode: ["RBAC"] });
    const [kept, removed] = await Promise.all([
      issue("CN=kept", { issuer: clients }),
      issue("CN=removed", { issuer: strangers }),
    ]);
    expect(await rawWhoAmI(own.running, [], removed)).toBe("removed");
    const { url, ca } = own.running;
    const session = connect(url, { ca, cert: removed.certificate, key: removed.key });
    session.on("error", () => undefined);
    const codeOnSession = () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      const fail = () => resolve(0);
      if (session.closed || session.destroyed) return Promise.resolve(0);
      const stream = session.request({ ":path": "/api" });
      stream.on("response", (fields) => resolve(Number(fields[":status"])));
      stream.on("error", fail).on("close", fail);
      return promise;
    };
    expect(await codeOnSession()).toBe(200);
    const ticket = await ticketOf(own, removed);
    expect(await resume(own, ticket)).toEqual({ code: 200, reused: true });
    writeFileSync(file, clients.certificate);
    await until(async () => (await rawWhoAmI(own.running, [], removed)) === 401);
    expect(await rawWhoAmI(own.running, [], kept)).toBe("kept");
    const published = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    const authorities = await until(
      async (): Promise<string> => (await own.get(published)).json.data["client-ca-file"],
      (bundle) => !bundle.includes(strangers.certificate),
    );
    expect(authorities).toContain(clients.certificate);
    expect([0, 401]).toContain(await codeOnSession());
    session.destroy();
    expect([401, 403]).toContain((await resume(own, ticket)).code);
  });
});

describe("attack 18: only a proxy speaks for others", () => {
  const user: Sent = [["X-Remote-User", "jane"]];
  const ask = (headers: Sent, pair?: KeyPair) => rawWhoAmI(behindProxies.running, headers, pair);
  test("it does, in any case of its headers", async () => {
    expect(await ask(user, front)).toBe("jane");
    expect(await ask([["x-REMOTE-user", "jane"]], front)).toBe("jane");
  });

  test.each<[string, Sent, (() => Promise<KeyPair>) | undefined, unknown[]]>([
    ["without a certificate", user, undefined, ["system:anonymous"]],
    ["with a client's certificate", user, () => issue("CN=alice", { issuer: clients }), ["alice"]],
    ["with a client's certificate of an allowed name", user, () => issue("CN=front", { issuer: clients }), ["front"]],
    ["with a name that is not allowed", user, () => issue("CN=back", { issuer: proxies }), nobody],
    ["expired", user, () => issue("CN=front", { issuer: proxies, fromMs: -2 * hourMs, untilMs: -hourMs }), nobody],
    ["for servers", user, () => issue("CN=front", { issuer: proxies, usages: [serverAuth] }), nobody],
    ["with two users", [...user, ["x-remote-user", "root"]], async () => front, nobody],
    ["with underscores", [["X_Remote_User", "jane"]], async () => front, nobody],
    [
      "with an empty user",
      [
        ["X-Remote-User", ""],
        ["X-Remote-Group", "system:masters"],
      ],
      async () => front,
      nobody,
    ],
    ["with groups alone", [["X-Remote-Group", "system:masters"]], async () => front, nobody],
  ])("not %s", async (_name, headers, make, expected) => {
    expect(expected).toContain(await ask(headers, await make?.()));
  });

  test("its word is final: a token that is left among the headers was its own to judge", async () => {
    expect(await ask([...user, ["authorization", "Bearer of-somebody-else"]], front)).toBe("jane");
    expect(await ask([["authorization", "Bearer of-somebody-else"]], front)).toBe(401);
  });

  test("two empty names beside one are one name", async () => {
    expect(await ask([["X-Remote-User", ""], ...user], front)).toBe("jane");
  });

  test("percent-encoding applies to keys only", async () => {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const headers: Sent = [
      ...user,
      ["content-type", "application/json"],
      ["X-Remote-Extra-Example.com%2FA", "1"],
      ["x-remote-extra-__proto__", "2"],
      ["x-remote-extra-%zz", "3"],
    ];
    const { port, ca } = behindProxies.running;
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const { text } = await rawRequest({ port, ca, method: "POST", path, headers, body, pair: front });
    const json = text.slice(text.indexOf("\r\n\r\n"));
    expect(json).toContain('"extra":{');
    expect(Object.entries(JSON.parse(json).status.userInfo.extra)).toEqual([
      ["example.com/a", ["1"]],
      ["__proto__", ["2"]],
      ["%zz", ["3"]],
    ]);
  });

  test("a proxy with an expired certificate cannot speak for users on its open connection", async () => {
    const { url, ca } = behindProxies.running;
    const session = connect(url, { ca, cert: front.certificate, key: front.key });
    const codeOf = () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      session
        .request({ ":path": "/api", "x-remote-user": "jane" })
        .on("response", (fields) => resolve(Number(fields[":status"])));
      return promise;
    };
    try {
      expect(await codeOf()).toBe(200);
      skewMs = hourMs + 1_000;
      expect(await codeOf()).toBe(401);
    } finally {
      skewMs = 0;
      session.destroy();
    }
  });

  test("the authority of clients is not that of proxies", async () => {
    await expect(
      TestServer.start({
        clientCaFile: clientsFile,
        requestheaderClientCaFile: clientsFile,
        requestheaderUsernameHeaders: ["X-Remote-User"],
      }),
    ).rejects.toThrow(/name the same file/);
  });
});
