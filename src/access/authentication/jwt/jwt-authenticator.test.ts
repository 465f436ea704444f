import { describe, expect, test } from "bun:test";
import { exportJWK, generateKeyPair, type JSONWebKeySet, SignJWT } from "jose";
import { type Clock, systemClock } from "../../../process/clock.ts";
import { AuthenticationFailure } from "../authenticator.ts";
import type { JwtIssuer } from "./authentication-configuration.ts";
import { jwtAuthenticator } from "./jwt-authenticator.ts";

const url = "https://issuer.example";
const issuer: JwtIssuer = {
  url,
  discoveryUrl: undefined,
  certificateAuthority: undefined,
  audiences: ["quorate"],
  requiredClaims: [],
  username: { claim: "sub", prefix: "" },
  groups: undefined,
  uid: undefined,
  algorithms: ["ES256"],
};
const pair = await generateKeyPair("ES256");
const keySet: JSONWebKeySet = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg: "ES256" }] };

/** Returns an authenticator with a stopped clock and an issuer that answers by `answer`. */
function authenticator(answer: () => Promise<JSONWebKeySet>) {
  const time = { nowMs: 1_700_000_000_000, steadyMs: 0, asked: 0, withdrawn: 0 };
  const clock: Clock = { ...systemClock, nowMs: () => time.nowMs, steadyMs: () => time.steadyMs };
  const fetchKeys = () => {
    time.asked++;
    return answer();
  };
  const onKeyWithdrawn = () => void time.withdrawn++;
  const tokens = jwtAuthenticator({ issuer, apiAudiences: ["api"], fetchKeys, clock, onKeyWithdrawn });
  const sign = (claims: Record<string, unknown> = {}, kid = "one") => {
    const seconds = time.nowMs / 1_000;
    const all = { iss: url, aud: "quorate", sub: "jane", iat: seconds, exp: seconds + 600, ...claims };
    return new SignJWT(all).setProtectedHeader({ alg: "ES256", kid }).sign(pair.privateKey);
  };
  const ask = async (claims?: Record<string, unknown>, kid?: string): Promise<string> => {
    try {
      const found = await tokens.authenticateToken(await sign(claims, kid), ["api"]);
      return found?.user.name ?? "nobody";
    } catch (error) {
      if (error instanceof AuthenticationFailure) return "refused";
      throw error;
    }
  };
  return { time, ask, doubtKeys: () => tokens.doubtKeys() };
}

describe("the time of a token", () => {
  const seconds = 1_700_000_000;
  test.each<[string, Record<string, unknown>, string]>([
    ["now", {}, "jane"],
    ["an end less than ten seconds ago", { exp: seconds - 9 }, "jane"],
    ["an end more than ten seconds ago", { exp: seconds - 11 }, "refused"],
    ["no end", { exp: undefined }, "refused"],
    ["an end that is a text", { exp: "9999999999" }, "refused"],
    ["a beginning in the future", { nbf: seconds + 11 }, "refused"],
    ["a making in the future", { iat: seconds + 11 }, "refused"],
    ["a making that is a text", { iat: "1" }, "refused"],
  ])("%s", async (_name, claims, outcome) => {
    expect(await authenticator(async () => keySet).ask(claims)).toBe(outcome);
  });
});

describe("the keys of an issuer", () => {
  test("that cannot be fetched are requested every ten seconds, however many tokens come", async () => {
    let works = false;
    const { time, ask } = authenticator(async () => {
      if (works) return keySet;
      throw new Error("down");
    });
    for (let at = 0; at < 5; at++) expect(await ask()).toBe("refused");
    expect(time.asked).toBe(1);
    works = true;
    time.steadyMs += 10_001;
    expect(await ask()).toBe("jane");
    expect(time.asked).toBe(2);
  });

  test("are requested once for all concurrent callers", async () => {
    const { time, ask } = authenticator(async () => keySet);
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(["jane", "jane", "jane"]);
    expect(time.asked).toBe(1);
  });

  test("stay valid while they are fetched again: a made-up key id delays no other request", async () => {
    let answer: () => Promise<JSONWebKeySet> = async () => keySet;
    const { time, ask } = authenticator(() => answer());
    expect(await ask()).toBe("jane");
    const slow = Promise.withResolvers<JSONWebKeySet>();
    answer = () => slow.promise;
    time.steadyMs += 10_001;
    const made = ask({}, "made-up");
    expect(await ask()).toBe("jane");
    slow.reject(new Error("down"));
    expect(await made).toBe("refused");
    expect(await ask()).toBe("jane");
    expect(time.asked).toBe(2);
  });

  test("that are doubted are requested again with the next token, at the earliest ten seconds after the last time", async () => {
    const { time, ask, doubtKeys } = authenticator(async () => keySet);
    expect(await ask()).toBe("jane");
    doubtKeys();
    expect([await ask(), time.asked]).toEqual(["jane", 1]);
    time.steadyMs += 10_001;
    expect([await ask(), time.asked]).toEqual(["jane", 2]);
    time.steadyMs += 10_001;
    expect([await ask(), time.asked, time.withdrawn]).toEqual(["jane", 2, 0]);
  });

  test("that are withdrawn are reported once and become invalid", async () => {
    let keys = keySet.keys;
    const { time, ask, doubtKeys } = authenticator(async () => ({ keys }));
    expect(await ask()).toBe("jane");
    const [key] = keySet.keys;
    keys = [...keySet.keys, { ...key, kid: "two" }] as typeof keys;
    time.steadyMs += 10_001;
    expect([await ask({}, "two"), time.withdrawn]).toEqual(["jane", 0]);
    keys = keys.slice(1);
    time.steadyMs += 10_001;
    doubtKeys();
    // It does not wait for the answer.
    expect(await ask({}, "two")).toBe("jane");
    expect([await ask(), time.withdrawn]).toEqual(["refused", 1]);
  });

  test("in another order, with other metadata, are not withdrawn", async () => {
    let keys = [...keySet.keys, { ...keySet.keys[0], kid: "two" }] as typeof keySet.keys;
    const { time, ask, doubtKeys } = authenticator(async () => ({ keys }));
    expect(await ask()).toBe("jane");
    keys = keys.toReversed().map((key) => ({ use: "sig", ...Object.fromEntries(Object.entries(key).toReversed()) }));
    time.steadyMs += 10_001;
    doubtKeys();
    await ask();
    expect([await ask(), time.asked, time.withdrawn]).toEqual(["jane", 2, 0]);
  });

  test("of an issuer whose answers differ each time are reported once a minute", async () => {
    const [key] = keySet.keys;
    let round = 0;
    const { time, ask, doubtKeys } = authenticator(async () => ({
      keys: [{ ...key, kid: `other-${++round}` }, ...keySet.keys] as typeof keySet.keys,
    }));
    await ask();
    for (let step = 0; step < 18; step++) {
      time.steadyMs += 10_001;
      doubtKeys();
      await ask();
      await ask();
    }
    expect([time.asked, time.withdrawn]).toEqual([19, 3]);
  });

  test("that are old and could not be refreshed are requested again ten seconds later", async () => {
    let answer: () => Promise<JSONWebKeySet> = async () => keySet;
    const { time, ask } = authenticator(() => answer());
    expect(await ask()).toBe("jane");
    answer = () => Promise.reject(new Error("down"));
    time.steadyMs += 10 * 60_000 + 1;
    expect([await ask(), time.asked]).toEqual(["jane", 2]);
    await Bun.sleep(0);
    answer = async () => ({ keys: [] });
    time.steadyMs += 10_001;
    expect([await ask(), time.asked]).toEqual(["jane", 3]);
    expect(await ask()).toBe("refused");
  });
});
