import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { clientMetrics } from "./client-metrics.ts";
import { metricsText } from "./testing.ts";

const answer = { method: "POST", code: 200, seconds: 0.1, requestBytes: 10, responseBytes: 20 };

test("requests are counted by host and code, and the number of hosts is bounded", async () => {
  const registry = new Registry();
  const record = clientMetrics(registry);
  for (let at = 0; at < 300; at++) record({ ...answer, host: `h${at}:443` });
  record({ ...answer, host: "h0:443", code: undefined, responseBytes: undefined });
  record({ ...answer, host: "h0:443", code: 12_345 });
  const text = await metricsText(registry);
  expect(text).toContain('rest_client_requests_total{code="200",method="POST",host="h0:443"} 1');
  expect(text).toContain('rest_client_requests_total{code="<error>",method="POST",host="h0:443"} 1');
  expect(text).toContain('rest_client_requests_total{code="600",method="POST",host="h0:443"} 1');
  expect(text).toContain('rest_client_requests_total{code="200",method="POST",host="other"} 44');
  expect(text).toContain('rest_client_response_size_bytes_sum{verb="POST",host="h0:443"} 40');
  expect(text).not.toContain("h256:443");
});
