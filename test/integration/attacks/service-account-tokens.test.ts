import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompactSign, decodeJwt, decodeProtectedHeader } from "jose";
import { type Clock, systemClock } from "../../../src/process/clock.ts";
import { until } from "../../until.ts";
import { auditLine } from "../audit-line.ts";
import { bearer, rawWhoAmI } from "../raw-request.ts";
import { pod, TestServer } from "../server.ts";

/** Attacks on tokens of service accounts, through real connections. */

const directory = mkdtempSync(join(tmpdir(), "quorate-attacks-"));
const inDirectory = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const issuer = "https://kubernetes.default.svc.cluster.local";
const core = "/api/v1/namespaces/default";
const reviewPath = "/apis/authentication.k8s.io/v1/tokenreviews";
const pem = (key: KeyObject) =>
  key.export({ type: key.type === "private" ? "pkcs8" : "spki", format: "pem" }) as string;

const signing = generateKeyPairSync("ec", { namedCurve: "P-256" });
const further = generateKeyPairSync("rsa", { modulusLength: 2048 });

let skewMs = 0;
const clock: Clock = { ...systemClock, nowMs: () => Date.now() + skewMs };
const auditLogPath = join(directory, "audit.log");
let server: TestServer;
/** All requests to this server are caused by the contents of a token. */
const trap = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => (trapped++, new Response("{}")) });
let trapped = 0;

beforeAll(async () => {
  const policy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };
  server = await TestServer.start({
    clock,
    authorizationMode: ["RBAC"],
    serviceAccountSigningKeyFile: inDirectory("signing.key", pem(signing.privateKey)),
    serviceAccountKeyFile: [inDirectory("further.pub", pem(further.publicKey))],
    serviceAccountMaxTokenExpirationMs: 3 * 3_600_000,
    auditPolicyFile: inDirectory("policy.json", JSON.stringify(policy)),
    auditLogPath,
  });
  for (const name of ["builder", "other"]) await server.create(`${core}/serviceaccounts`, { metadata: { name } });
  await server.create(`${core}/pods`, pod("p", { serviceAccountName: "builder" }));
});
afterAll(async () => {
  await Promise.all([server[Symbol.asyncDispose](), trap.stop(true)]);
  rmSync(directory, { recursive: true });
});

const asToken = (token: string) => rawWhoAmI(server.running, bearer(token));

const request = (spec: object, account = "builder", metadata: object = {}) =>
  server.post(`${core}/serviceaccounts/${account}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata,
    spec,
  });
async function tokenFor(spec: object = {}, account?: string): Promise<string> {
  const { code, json } = await request(spec, account);
  expect(code).toBe(201);
  return json.status.token;
}
const builder = "system:serviceaccount:default:builder";

/** Returns the same token with other claims or another header, signed again with the server's own key. */
async function resigned(claims: object | string, header: object = {}, key = signing.privateKey): Promise<string> {
  const good = await tokenFor();
  const { alg, kid } = decodeProtectedHeader(good);
  const text = typeof claims === "string" ? claims : JSON.stringify({ ...decodeJwt(good), ...claims });
  const protectedHeader = { alg, kid, ...header } as { alg: string };
  return new CompactSign(Buffer.from(text)).setProtectedHeader(protectedHeader).sign(key);
}
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const withHeader = (token: string, header: unknown) => token.replace(/^[^.]+/, base64url(header));

describe("attack 6: the algorithm is the key's, not the token's", () => {
  const unsigned = (good: string, header: object) => `${base64url(header)}.${good.split(".")[1]}.`;
  const hmac = (key: KeyObject | string) =>
    resigned({}, { alg: "HS256", kid: undefined }, Buffer.from(typeof key === "string" ? key : pem(key)) as never);
  test.each<[string, (good: string) => string | Promise<string>]>([
    ["none", (good) => unsigned(good, { alg: "none" })],
    ["None", (good) => unsigned(good, { alg: "None" })],
    ["none with the right kid", (good) => unsigned(good, { ...decodeProtectedHeader(good), alg: "none" })],
    ["no algorithm", (good) => withHeader(good, { kid: decodeProtectedHeader(good).kid })],
    ["an algorithm that is a number", (good) => withHeader(good, { alg: 256 })],
    ["HS256 by the EC public key", () => hmac(signing.publicKey)],
    ["HS256 by the RSA public key", () => hmac(further.publicKey)],
    ["HS256 by nothing", () => hmac("\0")],
    ["ES256 with the kid of the RSA key", () => resigned({}, { kid: furtherId() })],
    ["RS256 with the kid of the EC key", () => resigned({}, { alg: "RS256" }, further.privateKey)],
    ["PS256 by the RSA key", () => resigned({}, { alg: "PS256", kid: furtherId() }, further.privateKey)],
    ["b64 false", (good) => withHeader(good, { ...decodeProtectedHeader(good), b64: false, crit: ["b64"] })],
    ["a critical extension", (good) => withHeader(good, { ...decodeProtectedHeader(good), crit: ["exp"], exp: 1 })],
  ])("%s", async (_name, forge) => {
    expect(await asToken(await forge(await tokenFor()))).toBe(401);
  });

  test("the further key is good for its own algorithm", async () => {
    const good = await resigned({}, { alg: "RS256", kid: furtherId() }, further.privateKey);
    expect(await asToken(good)).toBe(builder);
  });
});

function furtherId(): string {
  const der = further.publicKey.export({ type: "spki", format: "der" });
  return new Bun.CryptoHasher("sha256").update(der).digest("base64url");
}

describe("attack 7: a header names a key that is known, and fetches nothing", () => {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const url = `http://127.0.0.1:${trap.port}/keys`;
  test.each<[string, object]>([
    ["a path", { kid: "../../../etc/passwd" }],
    ["a device", { kid: "/dev/null" }],
    ["SQL", { kid: "x' UNION SELECT 'key" }],
    ["a URL", { kid: url }],
    ["a list", { kid: ["a"] }],
    ["an object", { kid: { a: 1 } }],
    ["__proto__", { kid: "__proto__" }],
    ["20,000 characters", { kid: "k".repeat(20_000) }],
    ["a key of its own", { kid: undefined, jwk: own.publicKey.export({ format: "jwk" }) }],
    ["a key of its own under a known name", { jwk: own.publicKey.export({ format: "jwk" }) }],
    ["a URL of keys", { kid: undefined, jku: url }],
    ["a URL of certificates", { kid: undefined, x5u: url }],
    [
      "certificates",
      { kid: undefined, x5c: [own.publicKey.export({ type: "spki", format: "der" }).toString("base64")] },
    ],
  ])("%s", async (_name, header) => {
    expect(await asToken(await resigned({}, header, own.privateKey))).toBe(401);
    // An unknown kid matches no key, even with a valid signature.
    const kid = (header as { kid?: unknown }).kid;
    if (kid !== undefined) expect(await asToken(await resigned({}, header))).toBe(401);
    expect(trapped).toBe(0);
  });
});

describe("attack 8: a signature has one form, and a key its size", () => {
  const half = (value: number) => Buffer.alloc(32, value);
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const bytesOf = (token: string) => Buffer.from(token.split(".")[2] as string, "base64url");
  const withSignature = (token: string, text: string) => token.replace(/[^.]+$/, text);
  test.each<[string, (token: string) => string]>([
    ["zeros", () => Buffer.alloc(64).toString("base64url")],
    ["r zero", (token) => Buffer.concat([half(0), bytesOf(token).subarray(32)]).toString("base64url")],
    ["s zero", (token) => Buffer.concat([bytesOf(token).subarray(0, 32), half(0)]).toString("base64url")],
    ["all ones", () => Buffer.alloc(64, 0xff).toString("base64url")],
    ["a byte more", (token) => Buffer.concat([bytesOf(token), Buffer.alloc(1)]).toString("base64url")],
    ["a byte less", (token) => bytesOf(token).subarray(1).toString("base64url")],
    ["DER", (token) => der(bytesOf(token)).toString("base64url")],
    ["padding", (token) => `${token.split(".")[2]}==`],
    ["base64 of the other alphabet", (token) => bytesOf(token).toString("base64")],
    ["unused bits", (token) => lastBitTurned(token.split(".")[2] as string)],
    ["a line break", (token) => `${token.split(".")[2]}\u00a0`],
  ])("%s", async (_name, signature) => {
    const good = await tokenFor();
    const forged = withSignature(good, signature(good));
    expect(forged).not.toBe(good);
    expect(await asToken(forged)).toBe(401);
    expect(await asToken(good)).toBe(builder);
  });

  // RFC 7518 allows two values of s, and other signers produce both. The other one must not identify a different user.
  test("the other s is the same token of the same account", async () => {
    const good = await tokenFor();
    const bytes = bytesOf(good);
    const other = order - BigInt(`0x${bytes.subarray(32).toString("hex")}`);
    const mirrored = Buffer.concat([bytes.subarray(0, 32), Buffer.from(other.toString(16).padStart(64, "0"), "hex")]);
    expect([builder, 401]).toContain(await asToken(withSignature(good, mirrored.toString("base64url"))));
  });

  function der(raw: Buffer): Buffer {
    const integer = (part: Buffer) => {
      const body = (part[0] as number) >= 0x80 ? Buffer.concat([Buffer.alloc(1), part]) : part;
      return Buffer.concat([Buffer.from([2, body.length]), body]);
    };
    const both = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))]);
    return Buffer.concat([Buffer.from([0x30, both.length]), both]);
  }

  /** 64 bytes are 86 characters, the last of which has four unused bits. */
  function lastBitTurned(text: string): string {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return text.slice(0, -1) + alphabet[alphabet.indexOf(text.slice(-1)) ^ 1];
  }

  test.each<[string, () => KeyObject, RegExp]>([
    ["RSA of 1024 bits", () => generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey, /RSA key of 1024 bits/],
    ["a curve of others", () => generateKeyPairSync("ec", { namedCurve: "P-224" }).privateKey, /cannot sign tokens/],
    ["Ed25519", () => generateKeyPairSync("ed25519").privateKey, /cannot sign tokens/],
  ])("a server does not start with %s", async (name, make, message) => {
    const file = inDirectory(`${name.replaceAll(" ", "-")}.key`, pem(make()));
    await expect(TestServer.start({ serviceAccountSigningKeyFile: file })).rejects.toThrow(message);
    await expect(TestServer.start({ serviceAccountKeyFile: [file] })).rejects.toThrow(message);
  });
});

describe("attack 9: the times of a token are numbers, and a minute off at most", () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const raw = async (exp: string) => {
    const { exp: _exp, ...claims } = decodeJwt(await tokenFor());
    return resigned(JSON.stringify(claims).replace(/}$/, `,"exp":${exp}}`));
  };
  test.each<[string, () => Promise<string>, string | number]>([
    ["an end 50 seconds ago", () => resigned({ exp: now() - 50 }), builder],
    ["an end 70 seconds ago", () => resigned({ exp: now() - 70 }), 401],
    ["no end", () => resigned({ exp: undefined }), 401],
    ["an end that is a text", () => raw('"9999999999"'), 401],
    ["an end beyond numbers", () => raw("1e400"), 401],
    ["an end beyond calendars", () => raw("1e300"), 401],
    ["an end before the beginning of time", () => raw("-1"), 401],
    ["an end that is null", () => raw("null"), 401],
    ["a beginning in 50 seconds", () => resigned({ nbf: now() + 50 }), builder],
    ["a beginning in 70 seconds", () => resigned({ nbf: now() + 70 }), 401],
    ["a beginning that is a text", () => resigned({ nbf: "0" }), 401],
    ["made in 50 seconds", () => resigned({ iat: now() + 50 }), builder],
    ["made in 70 seconds", () => resigned({ iat: now() + 70 }), 401],
    ["made at a text", () => resigned({ iat: "0" }), 401],
  ])("%s", async (_name, make, expected) => {
    expect(await asToken(await make())).toBe(expected);
  });
});

describe("attack 10: a token is only valid for its audience", () => {
  test.each<[string, unknown]>([
    ["another audience", ["vault"]],
    ["another one as a text", "vault"],
    ["none", undefined],
    ["an empty list", []],
    ["an empty text", ""],
    ["a list in a list", [[issuer]]],
    ["a number among texts", [issuer, 1]],
    ["a part of ours", [issuer.slice(0, -1)]],
    ["ours in capitals", [issuer.toUpperCase()]],
  ])("%s", async (_name, aud) => {
    expect(await asToken(await resigned({ aud }))).toBe(401);
  });

  test("a review answers with the common audiences, and finds no user without any", async () => {
    const token = await tokenFor({ audiences: ["vault", "registry", issuer] });
    const review = async (audiences?: string[]) =>
      (await server.post(reviewPath, { kind: "TokenReview", spec: { token, audiences } })).json.status;
    expect((await review(["registry", "else", "vault"])).audiences).toEqual(["registry", "vault"]);
    expect((await review()).audiences).toEqual([issuer]);
    expect(await review(["else"])).toEqual({ user: {}, error: "invalid bearer token" });
  });
});

test.each([`${issuer}/`, issuer.toUpperCase(), issuer.replace("https", "http"), "kubernetes/serviceaccount", "", null])(
  "attack 11: a token of the issuer %p is nobody's",
  async (iss) => {
    expect(await asToken(await resigned({ iss }))).toBe(401);
  },
);

describe("attack 12: a token ends with the object it is bound to", () => {
  const serviceAccount = { name: "builder" };
  const bind = (kind: string, name: string) => ({ boundObjectRef: { apiVersion: "v1", kind, name } });
  const nodes = "/api/v1/nodes";
  const objects: [string, string, (name: string) => object][] = [
    ["Pod", `${core}/pods`, (name) => pod(name, { serviceAccountName: serviceAccount.name })],
    ["Secret", `${core}/secrets`, (name) => ({ metadata: { name } })],
    ["Node", nodes, (name) => ({ metadata: { name } })],
  ];
  test.each(objects)("a %s that goes, and another one of its name", async (kind, path, make) => {
    const name = `bound-${kind.toLowerCase()}`;
    await server.create(path, make(name));
    const token = await tokenFor(bind(kind, name));
    expect(await asToken(token)).toBe(builder);
    await server.delete(`${path}/${name}`, { gracePeriodSeconds: 0 });
    expect(await asToken(token)).toBe(401);
    await server.create(path, make(name));
    expect(await asToken(token)).toBe(401);
  });

  test("an account that is deleted, and another one of the same name", async () => {
    const accounts = `${core}/serviceaccounts`;
    await server.create(accounts, { metadata: { name: "brief" } });
    const token = await tokenFor({}, "brief");
    await server.delete(`${accounts}/brief`);
    expect(await asToken(token)).toBe(401);
    await server.create(accounts, { metadata: { name: "brief" } });
    expect(await asToken(token)).toBe(401);
  });

  test("an account of another namespace, however the token names it", async () => {
    const sub = "system:serviceaccount:kube-system:default";
    expect(await asToken(await resigned({ sub }))).toBe(401);
    const own = { namespace: "kube-system", serviceaccount: { name: "default", uid: "x" } };
    expect(await asToken(await resigned({ sub, "kubernetes.io": own }))).toBe(401);
  });

  test("a token of a Secret ends when a Secret of that name holds another one", async () => {
    const name = "builder-token";
    const annotations = { "kubernetes.io/service-account.name": "builder" };
    const make = () =>
      server.create(`${core}/secrets`, {
        metadata: { name, annotations },
        type: "kubernetes.io/service-account-token",
      });
    const held = async (): Promise<string> => {
      const read = async () => (await server.get(`${core}/secrets/${name}`)).json.data?.token;
      return Buffer.from(await until(read, (token) => token !== undefined), "base64").toString();
    };
    await make();
    const first = await held();
    expect(await asToken(first)).toBe(builder);
    await server.delete(`${core}/secrets/${name}`);
    expect(await asToken(first)).toBe(401);
    await make();
    const second = await held();
    expect(await asToken(second)).toBe(builder);
    if (second !== first) expect(await asToken(first)).toBe(401);

    const mark = { metadata: { labels: { "kubernetes.io/legacy-token-invalid-since": "2026-01-01" } } };
    await server.patch(`${core}/secrets/${name}`, "application/merge-patch+json", mark);
    expect(await asToken(second)).toBe(401);
  });
});

describe("attack 13: a token request grants no more than the requester may have", () => {
  test.each<[string, object, number]>([
    ["nine minutes", { expirationSeconds: 599 }, 422],
    ["more than 2^32 seconds", { expirationSeconds: 2 ** 32 + 1 }, 422],
    ["less than nothing", { expirationSeconds: -1 }, 422],
  ])("%s is refused", async (_name, spec, code) => {
    expect((await request(spec)).code).toBe(code);
  });

  test("more than the server's longest life is cut to it, in the token too", async () => {
    const { json, headers } = await request({ expirationSeconds: 365 * 24 * 3_600 });
    expect(json.spec.expirationSeconds).toBe(3 * 3_600);
    expect(headers.get("warning")).toContain("shortened to 10800 seconds");
    const { iat = 0, exp = 0 } = decodeJwt(json.status.token);
    expect(exp - iat).toBe(3 * 3_600);
  });

  test("a pod of another account is not bound to", async () => {
    const spec = { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "p" } };
    const { code, json } = await request(spec, "other");
    expect([code, json.message]).toEqual([
      400,
      'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.',
    ]);
    const other = { boundObjectRef: { ...spec.boundObjectRef, uid: "x" } };
    expect((await request(other)).code).toBe(409);
  });

  test("a token cannot request another token to extend its life", async () => {
    const token = await tokenFor();
    const path = `${core}/serviceaccounts/builder/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    expect((await server.post(path, body, { token })).code).toBe(403);
  });

  test("only tokens that kubelet mounts live longer, and their late use is noted", async () => {
    const bound = { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "p" } };
    const lifeOf = (token: string) => (decodeJwt(token).exp ?? 0) - (decodeJwt(token).iat ?? 0);
    expect(lifeOf(await tokenFor({ ...bound, expirationSeconds: 3_606 }))).toBe(3_606);
    expect(lifeOf(await tokenFor({ expirationSeconds: 3_607 }))).toBe(3_607);
    expect(lifeOf(await tokenFor({ ...bound, expirationSeconds: 3_607, audiences: ["vault"] }))).toBe(3_607);
    const mounted = await tokenFor({ ...bound, expirationSeconds: 3_607 });
    expect(lifeOf(mounted)).toBe(365 * 24 * 3_600);
    const auditId = "late-use";
    try {
      skewMs = 3_700_000;
      expect(await rawWhoAmI(server.running, [...bearer(mounted), ["audit-id", auditId]])).toBe(builder);
    } finally {
      skewMs = 0;
    }
    const event = JSON.parse(await auditLine(auditLogPath, auditId));
    expect(event.annotations["authentication.k8s.io/stale-token"]).toMatch(
      /^subject: system:serviceaccount:default:builder, seconds after warning threshold: \d+$/,
    );
  });
});
