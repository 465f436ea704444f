import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { nodeMetrics } from "./node-metrics.ts";
import { metricsText } from "./testing.ts";

test("zones that nodes name and namespaces of users make a limited number of series", async () => {
  const registry = new Registry();
  const { lifecycle, podGarbage } = nodeMetrics(registry);
  for (let count = 0; count < 2_000; count++) {
    lifecycle?.zoneAdded(`zone-${count}`);
    podGarbage?.deleting(`namespace-${count}`, "orphaned");
  }
  const lines = (await metricsText(registry)).split("\n");
  expect(lines.filter((line) => line.startsWith("node_collector_evictions_total{"))).toHaveLength(1_025);
  expect(lines.filter((line) => line.startsWith("pod_gc_collector_force_delete_pods_total{"))).toHaveLength(1_025);
  expect(lines).toContain('pod_gc_collector_force_delete_pods_total{namespace="other",reason="orphaned"} 976');
});
