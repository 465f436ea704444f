import { describe, expect, test } from "bun:test";
import type { Answer } from "../../client/json-endpoint.ts";
import { type Clock, systemClock } from "../../process/clock.ts";
import { AuthenticationFailure } from "./authenticator.ts";
import { tokenWebhook } from "./token-webhook.ts";

let steadyMs = 0;
const clock: Clock = { ...systemClock, steadyMs: () => steadyMs };

/** Returns a service that always answers with `status` and records its requests. */
function service(status: object | (() => Answer), cacheTtlMs = 1_000) {
  const asked: any[] = [];
  const endpoint = {
    async post(body: string): Promise<Answer> {
      asked.push(JSON.parse(body));
      if (typeof status === "function") return status();
      return { code: 201, body: new TextEncoder().encode(JSON.stringify({ status })) };
    },
  };
  return { asked, webhook: tokenWebhook({ endpoint, version: "v1", cacheTtlMs, apiAudiences: ["api"], clock }) };
}

const bob = { authenticated: true, user: { username: "bob", groups: ["dev"], extra: { a: ["1"] } } };

describe("token review by a webhook", () => {
  test("sends token and audiences, and returns the user", async () => {
    const { asked, webhook } = service({ ...bob, audiences: ["api"] });
    const answer = await webhook.authenticateToken("t", ["api", "other"]);
    expect(answer).toEqual({
      user: { name: "bob", uid: "", groups: ["dev"], extra: new Map([["a", ["1"]]]) },
      audiences: ["api"],
    });
    expect(asked[0]).toMatchObject({
      kind: "TokenReview",
      apiVersion: "authentication.k8s.io/v1",
      spec: { token: "t", audiences: ["api", "other"] },
    });
  });

  test.each<[string, object]>([
    ["a token that it does not know", { authenticated: false }],
    ["an answer for another audience", { ...bob, audiences: ["else"] }],
    ["an answer for no audience", { ...bob, audiences: [] }],
    ["an answer without one for a token that is asked about for another", bob],
  ])("returns no user for %s", async (name, status) => {
    const audiences = name.startsWith("an answer without") ? ["vault"] : ["api"];
    expect(await service(status).webhook.authenticateToken("t", audiences)).toBeUndefined();
  });

  test.each<[string, () => Answer]>([
    ["an error", () => ({ code: 500, body: new Uint8Array() })],
    ["a redirect", () => ({ code: 302, body: new Uint8Array() })],
    ["something else", () => ({ code: 200, body: new TextEncoder().encode("{}") })],
    [
      "nobody's name",
      () => ({ code: 201, body: new TextEncoder().encode('{"status":{"authenticated":true,"user":{}}}') }),
    ],
    ["no JSON", () => ({ code: 200, body: new TextEncoder().encode("<html>") })],
    ["nothing", () => Promise.reject(new Error("down")) as never],
  ])("fails when the answer is %s, and the next call asks again", async (_name, answer) => {
    const { asked, webhook } = service(answer);
    for (const _ of [1, 2]) {
      await expect(webhook.authenticateToken("t", ["api"])).rejects.toBeInstanceOf(AuthenticationFailure);
    }
    expect(asked).toHaveLength(2);
  });

  test("is requested once for concurrent callers, within the limit of the service", async () => {
    const { asked, webhook } = service({ authenticated: false });
    const answers = [1, 2, 3].map(() => webhook.authenticateToken("t", ["api"]));
    expect(await Promise.all(answers)).toEqual([undefined, undefined, undefined]);
    expect(asked).toHaveLength(1);
    const many = Array.from({ length: 512 }, (_, at) => webhook.authenticateToken(`t${at}`, ["api"]));
    expect(() => webhook.authenticateToken("one more", ["api"])).toThrow(AuthenticationFailure);
    await Promise.all(many);
    expect(await webhook.authenticateToken("one more", ["api"])).toBeUndefined();
  });

  test("is cached for a while, by token and audiences", async () => {
    const { asked, webhook } = service(bob);
    await webhook.authenticateToken("t", ["api"]);
    await webhook.authenticateToken("t", ["api"]);
    expect(asked).toHaveLength(1);
    await webhook.authenticateToken("u", ["api"]);
    await webhook.authenticateToken("t", ["api", "vault"]);
    expect(asked).toHaveLength(3);
    steadyMs += 1_001;
    await webhook.authenticateToken("t", ["api"]);
    expect(asked).toHaveLength(4);
  });
});
