import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { status } from "../../api/status.ts";
import type { IncomingRequest } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { countAuthentications } from "./authentication-metrics.ts";
import { HistogramChild } from "./bound-metric.ts";
import { metricsText } from "./testing.ts";

const user = (name: string): UserInfo => ({ name, uid: "", groups: [], extra: new Map() });
const request = (peer: unknown) => ({ peer }) as IncomingRequest;

test("senders are counted by result and kind of name, certificates by the time they have left", async () => {
  const registry = new Registry();
  const answers: (() => UserInfo | Promise<UserInfo>)[] = [
    () => user("admin"),
    () => Promise.resolve(user("jane@example.com")),
    () => user("jane"),
    () => {
      throw status.unauthorized();
    },
    () => Promise.reject(new Error("down")),
  ];
  const authenticator = countAuthentications(
    { authenticate: () => (answers.shift() as () => UserInfo)() },
    { registry, inFilter: new HistogramChild([1]), nowMs: () => 1_000_000 },
  );
  authenticator.authenticate(request({ kind: "verified", validToMs: 2_000_000 }));
  await authenticator.authenticate(request({ kind: "none" }));
  authenticator.authenticate(request({ kind: "none" }));
  expect(() => authenticator.authenticate(request({ kind: "none" }))).toThrow();
  expect(authenticator.authenticate(request({ kind: "none" }))).rejects.toThrow("down");
  const text = await metricsText(registry);
  expect(text).toContain('authentication_attempts{result="success"} 3');
  expect(text).toContain('authentication_attempts{result="failure"} 1');
  expect(text).toContain('authentication_attempts{result="error"} 1');
  for (const name of ["admin", "email_id", "other"]) {
    expect(text).toContain(`authenticated_user_requests{username="${name}"} 1`);
  }
  expect(text).not.toContain("jane");
  expect(text).toContain("apiserver_client_certificate_expiration_seconds_sum 1000");
});
