import { expect, test } from "bun:test";
import type { Exchange, Reply } from "../../request/exchange.ts";
import { createHealthMetrics } from "./health-metrics.ts";

test("the last result and the count of each check", async () => {
  const metrics = createHealthMetrics(5_000);
  metrics.observe("readyz", "etcd", true);
  metrics.observe("readyz", "etcd", false);
  const { body, headers } = (await metrics.handle({} as Exchange)) as Reply;
  expect(new Map(headers).get("content-type")).toEndWith("; charset=utf-8; escaping=underscores");
  const lines = new TextDecoder().decode(body as Uint8Array).split("\n");
  expect(lines).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 0');
  expect(lines).toContain('kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 1');
  expect(lines).toContain('kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1');
  expect(lines).toContain("process_start_time_seconds 5");
});
