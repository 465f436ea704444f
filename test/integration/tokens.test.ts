import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import { TestServer } from "./server.ts";

const core = "/api/v1/namespaces/default";
const account = `${core}/serviceaccounts/builder`;
const issuer = "https://kubernetes.default.svc.cluster.local";
const reviewPath = "/apis/authentication.k8s.io/v1/tokenreviews";
const whoAmIPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

let skewMs = 0;
const clock: Clock = { ...systemClock, nowMs: () => Date.now() + skewMs };
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ clock, enableBootstrapTokenAuth: true });
  await server.post(`${core}/serviceaccounts`, { metadata: { name: "builder" } });
});
afterAll(() => server[Symbol.asyncDispose]());

async function request(spec: object = {}, path = account) {
  return server.post(`${path}/token`, { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec });
}
async function tokenFor(spec: object = {}): Promise<string> {
  const answer = await request(spec);
  expect(answer.code).toBe(201);
  return answer.json.status.token;
}
const whoAmI = (token: string) =>
  server.post(whoAmIPath, { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }, { token });
const review = (spec: object) =>
  server.post(reviewPath, { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec });
const replaced = async (path: string, name: string) => {
  await server.request("DELETE", `${path}/${name}`);
  await server.post(path, { metadata: { name } });
};

describe("a requested token", () => {
  test("is answered with the account's metadata, the defaulted spec, and a token of that account", async () => {
    const { code, json } = await request();
    expect([code, json.kind, json.metadata.name, json.metadata.namespace]).toEqual([
      201,
      "TokenRequest",
      "builder",
      "default",
    ]);
    expect(json.spec).toEqual({ audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null });
    expect(decodeProtectedHeader(json.status.token)).toEqual({ alg: "ES256", kid: expect.any(String) });
    const claims = decodeJwt(json.status.token);
    expect(claims).toMatchObject({ iss: issuer, sub: "system:serviceaccount:default:builder", aud: [issuer] });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3600);

    const { userInfo } = (await whoAmI(json.status.token)).json.status;
    expect(userInfo).toMatchObject({
      username: "system:serviceaccount:default:builder",
      uid: json.metadata.uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": [`JTI=${claims.jti}`] },
    });
  });

  test("can be verified by anyone with the server's published keys", async () => {
    const configuration = await server.get("/.well-known/openid-configuration");
    expect(configuration.json).toMatchObject({
      issuer,
      jwks_uri: `${server.running.url}/openid/v1/jwks`,
      id_token_signing_alg_values_supported: ["ES256"],
    });
    const keys = await server.get("/openid/v1/jwks");
    expect(keys.headers.get("content-type")).toBe("application/jwk-set+json");
    expect(keys.headers.get("cache-control")).toBe("public, max-age=3600");
    const { payload } = await jwtVerify(await tokenFor(), createLocalJWKSet(keys.json), { issuer, audience: issuer });
    expect(payload.sub).toBe("system:serviceaccount:default:builder");
    expect(JSON.stringify(keys.json)).not.toContain('"d"');
  });

  test.each<[string, object, number, string]>([
    ["shorter than ten minutes", { expirationSeconds: 599 }, 422, "may not specify a duration less than 10 minutes"],
    ["for ever", { expirationSeconds: 2 ** 32 + 1 }, 422, "may not specify a duration larger than 2^32 seconds"],
    [
      "for a kind that nothing is bound to",
      { boundObjectRef: { kind: "Service", apiVersion: "v1", name: "x" } },
      400,
      "cannot bind token to object of type /v1, Kind=Service",
    ],
    [
      "for an object that is not there",
      { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "x" } },
      404,
      'secrets "x" not found',
    ],
    ["for an object without a name", { boundObjectRef: { kind: "Pod" } }, 400, "Name parameter required."],
    [
      "for an object of any version of the core group",
      { boundObjectRef: { kind: "Pod", apiVersion: "v2", name: "x" } },
      404,
      'pods "x" not found',
    ],
  ])("%s is refused", async (_name, spec, code, text) => {
    const answer = await request(spec);
    expect(answer.code).toBe(code);
    expect(answer.json.message).toContain(text);
  });

  test("of an account that is not there is a 404", async () => {
    expect((await request({}, `${core}/serviceaccounts/nobody`)).code).toBe(404);
  });

  test("is not accepted for another audience, and a review names the matching ones", async () => {
    const token = await tokenFor({ audiences: ["vault", issuer] });
    const other = await tokenFor({ audiences: ["vault"] });
    expect((await whoAmI(token)).code).toBe(201);
    expect((await whoAmI(other)).code).toBe(401);
    expect((await review({ token, audiences: ["vault", "else"] })).json.status).toMatchObject({
      authenticated: true,
      audiences: ["vault"],
    });
    const refused = await review({ token: other });
    expect([refused.code, refused.json.status.authenticated, refused.json.status.error]).toEqual([
      201,
      undefined,
      "invalid bearer token",
    ]);
    expect((await review({})).json.message).toBe("token is required for TokenReview in authentication");
  });

  test("ends at its time, with at most a minute for clocks that differ", async () => {
    const token = await tokenFor({ expirationSeconds: 600 });
    try {
      skewMs = 655_000;
      expect((await whoAmI(token)).code).toBe(201);
      skewMs = 665_000;
      expect((await whoAmI(token)).code).toBe(401);
    } finally {
      skewMs = 0;
    }
  });

  test("ends with the Secret that it is bound to, also when another one takes its name", async () => {
    await server.post(`${core}/secrets`, { metadata: { name: "bound" } });
    const token = await tokenFor({ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "bound" } });
    expect((await whoAmI(token)).code).toBe(201);
    await replaced(`${core}/secrets`, "bound");
    expect((await whoAmI(token)).code).toBe(401);
  });

  test("ends with its account, also when another one takes its name", async () => {
    await server.post(`${core}/serviceaccounts`, { metadata: { name: "short-lived" } });
    const { json } = await request({}, `${core}/serviceaccounts/short-lived`);
    expect((await whoAmI(json.status.token)).code).toBe(201);
    await replaced(`${core}/serviceaccounts`, "short-lived");
    expect((await whoAmI(json.status.token)).code).toBe(401);
  });
});

describe("a forged token", () => {
  const claims = { "kubernetes.io": { namespace: "default", serviceaccount: { name: "builder", uid: "x" } } };
  const forge = (header: object, key: Uint8Array) =>
    new SignJWT({ ...claims, sub: "system:serviceaccount:default:builder" })
      .setProtectedHeader(header as never)
      .setIssuer(issuer)
      .setAudience(issuer)
      .setExpirationTime("1h")
      .sign(key);
  const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

  test.each<[string, (good: string, publicKey: string) => Promise<string> | string]>([
    ["without an algorithm", (good) => `${base64url({ alg: "none" })}.${good.split(".")[1]}.`],
    ["with no header fields", (good) => `${base64url({})}.${good.split(".")[1]}.${good.split(".")[2]}`],
    ["signed with the public key as a secret", (_good, key) => forge({ alg: "HS256" }, Buffer.from(key))],
    [
      "with a changed payload",
      (good) => good.replace(/\.[^.]+\./, `.${base64url({ ...decodeJwt(good), sub: "root" })}.`),
    ],
    ["with a signature of zeros", (good) => good.replace(/[^.]+$/, Buffer.alloc(64).toString("base64url"))],
    ["with an unknown key id", (good) => good.replace(/^[^.]+/, base64url({ alg: "ES256", kid: "../../etc/passwd" }))],
    [
      "with a key of its own in the header",
      (good) => good.replace(/^[^.]+/, base64url({ alg: "ES256", jwk: {}, jku: "https://127.0.0.1/" })),
    ],
    [
      "with a critical extension",
      (good) => good.replace(/^[^.]+/, base64url({ alg: "ES256", crit: ["b64"], b64: false })),
    ],
    ["in four parts", (good) => `${good}.x`],
  ])("%s is a 401", async (_name, make) => {
    const good = await tokenFor();
    const { json } = await server.get("/openid/v1/jwks");
    const forged = await make(good, JSON.stringify(json.keys[0]));
    expect((await whoAmI(forged)).code).toBe(401);
    expect((await whoAmI(good)).code).toBe(201);
  });
});

describe("a bootstrap token", () => {
  const secrets = "/api/v1/namespaces/kube-system/secrets";
  const make = (id: string, change: Record<string, string> = {}) =>
    server.post(secrets, {
      metadata: { name: `bootstrap-token-${id}` },
      type: "bootstrap.kubernetes.io/token",
      stringData: {
        "token-id": id,
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
        ...change,
      },
    });

  test("authenticates its bootstrapper while its Secret exists", async () => {
    expect((await make("abcdef", { "auth-extra-groups": "system:bootstrappers:workers" })).code).toBe(201);
    const { userInfo } = (await whoAmI("abcdef.0123456789abcdef")).json.status;
    expect(userInfo).toEqual({
      username: "system:bootstrap:abcdef",
      groups: ["system:bootstrappers", "system:bootstrappers:workers", "system:authenticated"],
    });
    await server.request("DELETE", `${secrets}/bootstrap-token-abcdef`);
    expect((await whoAmI("abcdef.0123456789abcdef")).code).toBe(401);
  });

  test.each<[string, string, Record<string, string>]>([
    ["another secret part", "aaaaa1", { "token-secret": "fedcba9876543210" }],
    ["a usage that is not exactly true", "aaaaa2", { "usage-bootstrap-authentication": "True" }],
    ["an end in the past", "aaaaa3", { expiration: "2020-01-01T00:00:00Z" }],
    ["an end that is no time", "aaaaa4", { expiration: "tomorrow" }],
    ["a group of others", "aaaaa5", { "auth-extra-groups": "system:masters" }],
    ["another id inside", "aaaaa6", { "token-id": "bbbbbb" }],
  ])("with %s is a 401", async (_name, id, change) => {
    await make(id, change);
    expect((await whoAmI(`${id}.0123456789abcdef`)).code).toBe(401);
  });
});
