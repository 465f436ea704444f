import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import type { Attributes } from "../../access/authorization/attributes.ts";
import type { Decision } from "../../access/authorization/authorizer.ts";
import { anonymousUser } from "../../request/user-info.ts";
import { authorizationMetrics, countDecisions } from "./authorization-metrics.ts";
import { HistogramChild } from "./bound-metric.ts";
import { metricsText } from "./testing.ts";

const attributes = {} as Attributes;
const allow: Decision = { kind: "allow", reason: "" };

test("decisions are counted by result, whether they are made at once, later or not at all", async () => {
  const registry = new Registry();
  const answers = [
    () => allow,
    () => Promise.resolve<Decision>({ kind: "deny", reason: "" }),
    () => Promise.reject(new Error("down")),
  ];
  const authorizer = countDecisions(
    { authorize: () => answers.shift()?.() ?? allow },
    registry,
    new HistogramChild([1]),
  );
  expect(authorizer.authorize(anonymousUser, attributes)).toBe(allow);
  await authorizer.authorize(anonymousUser, attributes);
  expect(authorizer.authorize(anonymousUser, attributes)).rejects.toThrow("down");
  const text = await metricsText(registry);
  for (const result of ["allowed", "denied", "error"]) {
    expect(text).toContain(`authorization_attempts_total{result="${result}"} 1`);
    expect(text).toContain(`authorization_duration_seconds_count{result="${result}"} 1`);
  }
  expect(text).toContain('authorization_attempts_total{result="no-opinion"} 0');
});

test("an authorizer that is made anew after a reload counts on", async () => {
  const registry = new Registry();
  const observer = authorizationMetrics(registry, "server-1");
  for (const kind of ["allow", "deny", "noOpinion"] as const) observer.decisions("RBAC", "rbac")(kind);
  const webhook = observer.webhook("w");
  webhook.asked("timeout", 30);
  webhook.failedOpen("timeout");
  webhook.conditionsEvaluated(0.01, "excluded");
  observer.reloaded(true);
  observer.reloaded(false);
  const text = await metricsText(registry);
  expect(text).toContain('apiserver_authorization_decisions_total{type="RBAC",name="rbac",decision="allowed"} 1');
  expect(text).toContain('apiserver_authorization_decisions_total{type="RBAC",name="rbac",decision="denied"} 1');
  expect(text).toContain('apiserver_authorization_webhook_evaluations_total{name="w",result="timeout"} 1');
  expect(text).toContain('apiserver_authorization_webhook_evaluations_fail_open_total{name="w",result="timeout"} 1');
  expect(text).toContain('apiserver_authorization_match_condition_exclusions_total{type="Webhook",name="w"} 1');
  expect(text).toMatch(/automatic_reloads_total\{status="failure",apiserver_id_hash="sha256:[0-9a-f]{64}"\} 1/);
});
