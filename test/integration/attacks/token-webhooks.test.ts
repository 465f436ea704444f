import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bearer, rawRequest, rawWhoAmI } from "../raw-request.ts";
import { TestServer } from "../server.ts";
import { TlsService } from "../tls-service.ts";

/** A malicious token review service, and a server that uses it. */

const directory = mkdtempSync(join(tmpdir(), "quorate-attacks-"));
type Answer = (spec: any) => Response | Promise<Response>;
let answer: Answer;
let reviews: any[] = [];
let otherPaths = 0;
const service = new TlsService(async (request) => {
  if (new URL(request.url).pathname !== "/review") {
    otherPaths++;
    return reviewOf({ authenticated: true, user: { username: "redirected" } });
  }
  const { spec } = (await request.json()) as { spec: any };
  reviews.push(spec);
  return answer(spec);
});
const reviewOf = (status: object) =>
  Response.json({ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", status });
const known = (spec: any, more: object = {}) =>
  reviewOf({ authenticated: true, user: { username: `user of ${spec.token}` }, ...more });

let server: TestServer;

beforeAll(async () => {
  const file = join(directory, "webhook.json");
  writeFileSync(file, service.kubeconfig("/review"));
  server = await TestServer.start({
    authorizationMode: ["RBAC"],
    authenticationTokenWebhookConfigFile: file,
    authenticationTokenWebhookVersion: ["v1"],
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  reviews = [];
  answer = known;
});

let count = 0;
const fresh = () => `webhook-token-${++count}`;
const asToken = (token: string) => rawWhoAmI(server.running, bearer(token));

describe("attack 20: a service that reviews tokens is believed as far as it answers", () => {
  test("it is asked for the server's own audience, and its answer is cached for that token", async () => {
    const token = fresh();
    expect(await asToken(token)).toBe(`user of ${token}`);
    expect(await asToken(token)).toBe(`user of ${token}`);
    expect(reviews).toEqual([{ token, audiences: ["https://kubernetes.default.svc.cluster.local"] }]);
  });

  test.each<[string, Answer]>([
    ["says no", () => reviewOf({ authenticated: false })],
    ["says no and names somebody", () => reviewOf({ user: { username: "root" } })],
    ["says yes as a text", (spec) => known(spec, { authenticated: "true" })],
    ["names nobody", (spec) => known(spec, { user: {} })],
    ["answers for another audience", (spec) => known(spec, { audiences: ["vault"] })],
    ["answers for no audience", (spec) => known(spec, { audiences: [] })],
    ["fails", (spec) => new Response(known(spec).body, { status: 500 })],
    ["sends elsewhere", () => Response.redirect(`${service.url}/elsewhere`, 307)],
    ["answers with too much", () => new Response(`{"status":{"authenticated":true,"x":"${"x".repeat(2 << 20)}"}}`)],
    [
      "answers with too much, compressed",
      () => gzipped({ authenticated: true, user: { username: "x".repeat(1 << 26) } }),
    ],
    ["does not answer with JSON", () => new Response("<html>yes</html>")],
    ["answers with null", () => new Response("null")],
    ["answers with a list", () => new Response("[]")],
  ])("where it %s, the token is a 401 and its words stay here", async (_name, given) => {
    answer = given;
    const token = fresh();
    const { code, text } = await rawRequest({ ...server.running, path: "/api", headers: bearer(token) });
    expect(code).toBe(401);
    expect(text).toContain('"message":"Unauthorized"');
    expect(otherPaths).toBe(0);
  });

  test("a failure is not kept, a refusal is never kept as a yes", async () => {
    const token = fresh();
    answer = () => new Response(null, { status: 503 });
    expect(await asToken(token)).toBe(401);
    answer = known;
    expect(await asToken(token)).toBe(`user of ${token}`);

    const refused = fresh();
    answer = () => reviewOf({ authenticated: false });
    expect([await asToken(refused), await asToken(refused)]).toEqual([401, 401]);
    answer = known;
    expect(await asToken(refused)).toBe(401);
  });

  test("answers are cached by the whole token, never shared by a common part", async () => {
    const start = "s".repeat(4_000);
    for (const token of [`${start}a`, `${start}b`, start, `${start}a`]) {
      expect(await asToken(token)).toBe(`user of ${token}`);
    }
    expect(reviews).toHaveLength(3);
  });

  test("a slow one delays only the users that it is asked about", async () => {
    const slow = Promise.withResolvers<Response>();
    answer = () => slow.promise;
    const waiting = asToken(fresh());
    expect(await asToken(server.running.token)).toBe("kubernetes-admin");
    expect(await rawWhoAmI(server.running, [])).toBe("system:anonymous");
    slow.resolve(reviewOf({ authenticated: false }));
    expect(await waiting).toBe(401);
  });
});

function gzipped(status: object): Response {
  const body = Bun.gzipSync(JSON.stringify({ status }));
  return new Response(body, { headers: { "content-encoding": "gzip", "content-type": "application/json" } });
}
