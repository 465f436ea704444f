import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";
import { TlsService } from "./tls-service.ts";

/** An OpenID provider on this machine, with replaceable keys, and a server that trusts it by a file. */

const directory = mkdtempSync(join(tmpdir(), "quorate-"));
const file = join(directory, "authentication.yaml");
const whoAmIPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

let skewMs = 0;
const clock: Clock = {
  ...systemClock,
  nowMs: () => Date.now() + skewMs,
  steadyMs: () => performance.now() + skewMs,
  after: (ms, run) => systemClock.after(Math.min(ms, 20), run),
  every: (ms, run) => systemClock.every(Math.min(ms, 50), run),
};
let keys = await generateKeyPair("ES256");
let keyId = "one";
let fetches = 0;
const provider = new TlsService(async (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/.well-known/openid-configuration") {
    return Response.json({ issuer: issuerUrl, jwks_uri: `${issuerUrl}/keys` });
  }
  if (pathname !== "/keys") return new Response(null, { status: 404 });
  fetches++;
  return Response.json({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: keyId, alg: "ES256", use: "sig" }] });
});
const issuerUrl: string = provider.url;
let server: TestServer;

function configuration(prefix: string): string {
  return JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: { url: issuerUrl, certificateAuthority: provider.ca, audiences: ["quorate"] },
        claimValidationRules: [{ claim: "hd", requiredValue: "example.com" }],
        claimMappings: { username: { claim: "sub", prefix }, groups: { claim: "groups", prefix: "oidc:" } },
      },
    ],
    anonymous: { enabled: true, conditions: [{ path: "/livez" }] },
  });
}

beforeAll(async () => {
  writeFileSync(file, configuration("oidc:"));
  server = await TestServer.start({ authenticationConfig: file, authorizationMode: ["AlwaysAllow"], clock });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

function token(change: Record<string, unknown> = {}, { exp = "10m", kid = keyId, key = keys.privateKey } = {}) {
  const claims = { hd: "example.com", groups: ["dev"], sub: "jane", iss: issuerUrl, aud: "quorate", ...change };
  return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).setExpirationTime(exp).sign(key);
}
const whoAmI = async (bearer: string) =>
  server.post(whoAmIPath, { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }, { token: bearer });

test("an ID token of a configured issuer names user and groups", async () => {
  const { code, json } = await whoAmI(await token());
  expect(code).toBe(201);
  expect(json.status.userInfo).toEqual({ username: "oidc:jane", groups: ["oidc:dev", "system:authenticated"] });
});

describe("a token is a 401", () => {
  test.each<[string, () => Promise<string>]>([
    ["for another audience", () => token({ aud: "else" })],
    ["of another issuer", () => token({ iss: `${issuerUrl}/` })],
    ["without a required claim", () => token({ hd: "example.org" })],
    ["without a name", () => token({ sub: undefined })],
    ["with groups that are none", () => token({ groups: [{}] })],
    ["that has expired", () => token({}, { exp: "-1m" })],
    [
      "by a key that the issuer does not have",
      async () => token({}, { key: (await generateKeyPair("ES256")).privateKey }),
    ],
  ])("%s", async (_name, make) => {
    expect((await whoAmI(await make())).code).toBe(401);
  });
});

test("new keys of the issuer are fetched, but not for every made-up key", async () => {
  await whoAmI(await token());
  keys = await generateKeyPair("ES256");
  keyId = "two";
  skewMs += 11_000;
  expect((await whoAmI(await token())).code).toBe(201);
  const before = fetches;
  for (const kid of ["a", "b", "c"]) expect((await whoAmI(await token({}, { kid }))).code).toBe(401);
  expect(fetches).toBe(before);
});

test("a changed file is in force soon, and a broken one changes nothing", async () => {
  writeFileSync(file, "jwt: [");
  await Bun.sleep(150);
  expect((await whoAmI(await token())).json.status.userInfo.username).toBe("oidc:jane");
  writeFileSync(file, configuration("sso:"));
  await until(async () => (await whoAmI(await token())).json.status.userInfo.username === "sso:jane");
});

test("requests without credentials are let in on the paths that the file names", async () => {
  expect((await server.get("/livez", { token: "" })).code).toBe(200);
  expect((await server.get("/readyz", { token: "" })).code).toBe(401);
});

test.each<[string, object, RegExp]>([
  [
    "an issuer that is not https",
    { jwt: [{ issuer: { url: "http://x", audiences: ["a"] } }] },
    /URL scheme must be https/,
  ],
  [
    "our own issuer",
    { jwt: [{ issuer: { url: "https://kubernetes.default.svc.cluster.local", audiences: ["a"] } }] },
    /must not overlap/,
  ],
  ["no audience", { jwt: [{ issuer: { url: "https://x" } }] }, /at least one jwt.issuer.audiences is required/],
  [
    "an unknown network",
    { jwt: [{ issuer: { url: "https://x", audiences: ["a"], egressSelectorType: "etcd" } }] },
    /egress selector must be either controlplane or cluster/,
  ],
  ["an unknown field", { jwks: [] }, /jwks: .*unknown field/],
  [
    "CEL that does not compile",
    {
      jwt: [
        { issuer: { url: "https://x", audiences: ["a"] }, claimMappings: { username: { expression: "claims.sub +" } } },
      ],
    },
    /claimMappings.username.expression: .*compilation failed/s,
  ],
])("a file with %s is a reason not to start", async (_name, content, message) => {
  const broken = join(directory, "broken.yaml");
  writeFileSync(
    broken,
    JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration", ...content }),
  );
  await expect(TestServer.start({ authenticationConfig: broken })).rejects.toThrow(message);
});
