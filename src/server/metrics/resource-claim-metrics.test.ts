import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { resourceClaimMetrics } from "./resource-claim-metrics.ts";
import { metricsText } from "./testing.ts";

test("claims are counted by their traits, while somebody leads", async () => {
  const registry = new Registry();
  const observer = resourceClaimMetrics(registry);
  const free = { allocated: "false", adminAccess: "false", source: "" } as const;
  const reading = observer.observeClaims(() => [free, { ...free, allocated: "true" }, free]);
  observer.creation("success", "true");
  const lines = (await metricsText(registry)).split("\n");
  const name = "resourceclaim_controller_resource_claims";
  expect(lines).toContain(`${name}{admin_access="false",allocated="false",source=""} 2`);
  expect(lines).toContain(`${name}{admin_access="false",allocated="true",source=""} 1`);
  expect(lines).toContain('resourceclaim_controller_creates_total{admin_access="true",status="success"} 1');
  reading[Symbol.dispose]();
  expect(await metricsText(registry)).not.toContain(`${name}{`);
});
