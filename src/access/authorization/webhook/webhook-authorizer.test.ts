import { describe, expect, test } from "bun:test";
import type { Answer } from "../../../client/json-endpoint.ts";
import { parseRequestInfo } from "../../../http/parse-request-info.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import { ManualClock } from "../../../storage/cacher/testing.ts";
import type { Attributes } from "../attributes.ts";
import type { Decision } from "../authorizer.ts";
import { cachedDecisionsMax, DecisionCache } from "./decision-cache.ts";
import { type WebhookOptions, webhookAuthorizer } from "./webhook-authorizer.ts";

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: "", groups, extra: new Map() });
const request = (target: string): Attributes => parseRequestInfo("GET", target);
const pods = request("/api/v1/namespaces/ns/pods");

function answer(status: unknown, code = 200): Answer {
  return { code, body: new TextEncoder().encode(JSON.stringify({ status })) };
}

/** Returns a webhook that gives these answers in turn and then repeats the last one. */
function webhook(answers: readonly (Answer | Error)[], options: Partial<WebhookOptions> = {}) {
  const asked: any[] = [];
  const clock = new ManualClock();
  const authorizer = webhookAuthorizer({
    name: "w",
    clock,
    version: "v1",
    selectors: true,
    authorizedTtlMs: 300_000,
    unauthorizedTtlMs: 30_000,
    timeoutMs: 200,
    failurePolicy: "NoOpinion",
    conditions: [],
    ...options,
    endpoint: {
      async post(body) {
        asked.push(JSON.parse(body));
        const next = answers[Math.min(asked.length, answers.length) - 1] as Answer | Error;
        if (next instanceof Error) throw next;
        return next;
      },
    },
  });
  const ask = async (who = user("u"), what = pods): Promise<Decision> => authorizer.authorize(who, what);
  return { asked, clock, ask };
}

test.each<[object, Decision["kind"]]>([
  [{ allowed: true }, "allow"],
  [{ allowed: false, denied: true, reason: "why" }, "deny"],
  [{ allowed: false }, "noOpinion"],
  [{}, "noOpinion"],
  [{ allowed: "true" }, "noOpinion"],
])("an answer %j is %s", async (status, kind) => {
  expect((await webhook([answer(status)]).ask()).kind).toBe(kind);
});

test("the question is the whole request", async () => {
  const { asked, ask } = webhook([answer({ allowed: true })]);
  const who = { name: "u", uid: "1", groups: ["g"], extra: new Map([["__proto__", ["x"]]]) };
  await ask(who, request("/api/v1/pods?fieldSelector=spec.nodeName%3Dn&labelSelector=a+in+(b,c),!d"));
  expect(JSON.stringify(asked[0].spec)).toBe(
    JSON.stringify({
      resourceAttributes: {
        verb: "list",
        version: "v1",
        resource: "pods",
        fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n"] }] },
        labelSelector: {
          requirements: [
            { key: "a", operator: "In", values: ["b", "c"] },
            { key: "d", operator: "DoesNotExist" },
          ],
        },
      },
      user: "u",
      groups: ["g"],
      extra: JSON.parse('{"__proto__":["x"]}'),
      uid: "1",
    }),
  );
});

describe("attack 30: a webhook that fails never allows", () => {
  test.each<[string, Answer | Error]>([
    ["nobody answers", new Error("refused")],
    ["an error", answer({ allowed: true }, 500)],
    ["a redirect", answer({ allowed: true }, 302)],
    ["a refusal", answer({ allowed: true }, 403)],
    ["both", answer({ allowed: true, denied: true })],
    ["no status", { code: 200, body: new TextEncoder().encode("{}") }],
    ["no JSON", { code: 200, body: new TextEncoder().encode("<html>") }],
  ])("%s", async (_what, bad) => {
    await expect(webhook([bad]).ask()).rejects.toThrow();
    expect((await webhook([bad], { failurePolicy: "Deny" }).ask()).kind).toBe("deny");
  });

  test("a failure is not cached, and a temporary one is retried", async () => {
    const { asked, clock, ask } = webhook([answer({}, 503), answer({ allowed: true })], { timeoutMs: 5_000 });
    const asking = ask();
    while (clock.timers === 0) await Bun.sleep(1);
    clock.advance(500);
    expect((await asking).kind).toBe("allow");
    expect(asked).toHaveLength(2);
  });

  test("a slow webhook times out", async () => {
    const slow = webhookAuthorizer({
      ...({ name: "w", clock: new ManualClock(), version: "v1", selectors: false } as const),
      authorizedTtlMs: 1,
      unauthorizedTtlMs: 1,
      timeoutMs: 20,
      failurePolicy: "Deny",
      conditions: [],
      endpoint: {
        post: (_body, signal) =>
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      },
    });
    expect((await slow.authorize(user("u"), pods)).kind).toBe("deny");
  });

  test("a false condition skips the webhook; a failed one follows the policy", async () => {
    const fails = () => {
      throw new Error("no such field");
    };
    expect((await webhook([answer({ allowed: true })], { conditions: [() => false] }).ask()).kind).toBe("noOpinion");
    expect((await webhook([answer({ allowed: true })], { conditions: [fails, () => false] }).ask()).kind).toBe(
      "noOpinion",
    );
    expect((await webhook([answer({ allowed: true })], { conditions: [() => true] }).ask()).kind).toBe("allow");
    await expect(webhook([answer({ allowed: true })], { conditions: [fails] }).ask()).rejects.toThrow("no such field");
    const denies = webhook([answer({ allowed: true })], { conditions: [fails], failurePolicy: "Deny" });
    expect((await denies.ask()).kind).toBe("deny");
  });
});

describe("attack 30: answers are cached for exactly the question", () => {
  test.each<[string, [UserInfo, Attributes], [UserInfo, Attributes]]>([
    ["another user", [user("a:b", "c"), pods], [user("a", "b:c"), pods]],
    ["another group", [user("a", "b,c"), pods], [user("a", "b", "c"), pods]],
    ["another selector", [user("a"), pods], [user("a"), request("/api/v1/namespaces/ns/pods?labelSelector=x")]],
    [
      "another name",
      [user("a"), request("/api/v1/namespaces/ns/pods/x")],
      [user("a"), request("/api/v1/namespaces/ns/pods/y")],
    ],
    [
      "a subresource",
      [user("a"), request("/api/v1/namespaces/ns/pods/x")],
      [user("a"), request("/api/v1/namespaces/ns/pods/x/log")],
    ],
  ])("%s is asked again", async (_what, first, second) => {
    const { asked, ask } = webhook([answer({ allowed: true }), answer({ allowed: false })]);
    expect((await ask(...first)).kind).toBe("allow");
    expect((await ask(...first)).kind).toBe("allow");
    expect((await ask(...second)).kind).toBe("noOpinion");
    expect(asked).toHaveLength(2);
  });

  test("and only for their time", async () => {
    const { asked, clock, ask } = webhook([
      answer({ allowed: true }),
      answer({ allowed: false }),
      answer({ allowed: true }),
    ]);
    await ask();
    clock.set(-3_600_000);
    clock.advance(299_999);
    expect((await ask()).kind).toBe("allow");
    clock.set(7_200_000);
    expect((await ask()).kind).toBe("allow");
    clock.advance(1);
    expect((await ask()).kind).toBe("noOpinion");
    clock.advance(29_999);
    expect((await ask()).kind).toBe("noOpinion");
    clock.advance(1);
    expect((await ask()).kind).toBe("allow");
    expect(asked).toHaveLength(3);
  });

  test("the cache has a limit", () => {
    const cache = new DecisionCache(new ManualClock());
    for (let at = 0; at < cachedDecisionsMax + 10; at++) cache.set(`q${at}`, { kind: "allow", reason: "" }, 1_000);
    cache.set("x".repeat(20_000), { kind: "allow", reason: "" }, 1_000);
    expect(cache.size).toBe(cachedDecisionsMax);
    expect(cache.get("q0")).toBeUndefined();
  });
});
