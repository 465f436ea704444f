import { beforeEach, expect, test } from "bun:test";
import type { Pod } from "../../api/types/core-v1.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { FakeServer } from "./testing.ts";
import { TokenSource } from "./token-source.ts";

const hourMs = 60 * 60_000;
const pod: Pod = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "web", namespace: "shop", uid: "u-1" },
  spec: { containers: null, serviceAccountName: "robot" },
};

let clock: ManualClock;
let server: FakeServer;
let errors: unknown[] = [];
let issued = 0;
let random = 0;

beforeEach(() => {
  clock = new ManualClock();
  server = new FakeServer();
  errors = [];
  issued = 0;
  random = 0;
  server.issue = async (_of, { spec }) => {
    issued++;
    const { expirationSeconds } = spec as { expirationSeconds: number };
    const expirationTimestamp = new Date(clock.nowMs() + expirationSeconds * 1_000).toISOString();
    return { spec: { expirationSeconds }, status: { token: `token-${issued}`, expirationTimestamp } };
  };
});

function open(): TokenSource {
  return new TokenSource({ client: server, clock, random: () => random, onError: (error) => errors.push(error) });
}

test("a token is kept for 80 % of its life", async () => {
  using tokens = open();
  const projection = { path: "token", expirationSeconds: 3_600 };
  expect(await tokens.tokenFor(pod, projection)).toBe("token-1");
  clock.advance(0.8 * hourMs - 1_000);
  expect(await tokens.tokenFor(pod, projection)).toBe("token-1");
  clock.advance(2_000);
  expect(await tokens.tokenFor(pod, projection)).toBe("token-2");
});

test("a token that lives for long is replaced after a day", async () => {
  using tokens = open();
  const projection = { path: "token", expirationSeconds: 365 * 24 * 3_600 };
  expect(await tokens.tokenFor(pod, projection)).toBe("token-1");
  clock.advance(24 * hourMs - 1_000);
  expect(await tokens.tokenFor(pod, projection)).toBe("token-1");
  clock.advance(2_000);
  expect(await tokens.tokenFor(pod, projection)).toBe("token-2");
});

test("a replacement comes up to ten seconds early, so that nodes do not ask together", async () => {
  using tokens = open();
  const projection = { path: "token", expirationSeconds: 3_600 };
  await tokens.tokenFor(pod, projection);
  clock.advance(0.8 * hourMs - 5_000);
  random = 0.9;
  expect(await tokens.tokenFor(pod, projection)).toBe("token-2");
});

test("each audience, lifetime and pod has a token of its own", async () => {
  using tokens = open();
  const other = { ...pod, metadata: { ...pod.metadata, uid: "u-2" } };
  const wanted = [
    await tokens.tokenFor(pod, { path: "a" }),
    await tokens.tokenFor(pod, { path: "b", audience: "vault" }),
    await tokens.tokenFor(pod, { path: "c", expirationSeconds: 7_200 }),
    await tokens.tokenFor(other, { path: "a" }),
  ];
  expect(new Set(wanted).size).toBe(4);
  expect(await tokens.tokenFor(pod, { path: "elsewhere" })).toBe(wanted[0] ?? "");
});

test("an old token serves while the server does not answer, until it expires", async () => {
  using tokens = open();
  const projection = { path: "token", expirationSeconds: 3_600 };
  await tokens.tokenFor(pod, projection);
  server.issue = () => Promise.reject(new Error("connection refused"));
  clock.advance(0.9 * hourMs);
  expect(await tokens.tokenFor(pod, projection)).toBe("token-1");
  expect(errors.map(String)).toEqual(["Error: connection refused"]);
  clock.advance(0.2 * hourMs);
  // The clean-up has forgotten it by now.
  await expect(tokens.tokenFor(pod, projection)).rejects.toThrow("failed to fetch token: connection refused");
});

test("the tokens of a pod that has ended are forgotten", async () => {
  using tokens = open();
  await tokens.tokenFor(pod, { path: "token" });
  tokens.forget("u-1");
  expect(await tokens.tokenFor(pod, { path: "token" })).toBe("token-2");
});

test("an answer without a token is refused", async () => {
  using tokens = open();
  server.issue = async () => ({ status: {} });
  await expect(tokens.tokenFor(pod, { path: "token" })).rejects.toThrow(
    "failed to fetch token: the server sent no token",
  );
});
