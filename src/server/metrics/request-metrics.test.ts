import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { parseRequestInfo } from "../../http/parse-request-info.ts";
import type { Exchange } from "../../request/exchange.ts";
import { requestMetrics } from "./request-metrics.ts";
import { requestSeriesMax } from "./request-series.ts";
import { metricsText } from "./testing.ts";

const isServed = ({ resource, subresource }: { resource: string; subresource: string }) =>
  resource === "pods" && (subresource === "" || subresource === "status");

function exchangeOf(method: string, target: string, more: Partial<Exchange> & { bodyBytes?: number } = {}): Exchange {
  const { bodyBytes, ...rest } = more;
  return {
    request: { headers: [], bodyBytes },
    info: parseRequestInfo(method, target),
    ...rest,
  } as unknown as Exchange;
}

async function linesAfter(count: (metrics: ReturnType<typeof requestMetrics>) => void): Promise<string[]> {
  const registry = new Registry();
  count(requestMetrics(registry, isServed));
  return (await metricsText(registry)).split("\n");
}

const pods = 'group="",version="v1",resource="pods",subresource=""';
const quick = { code: 200, seconds: 0.01, responseBytes: 10 };

test.each([
  ["GET", "/api/v1/namespaces/n/pods/p", "GET", "resource"],
  ["HEAD", "/api/v1/namespaces/n/pods/p", "GET", "resource"],
  ["GET", "/api/v1/namespaces/n/pods", "LIST", "namespace"],
  ["GET", "/api/v1/pods", "LIST", "cluster"],
  ["POST", "/api/v1/namespaces/n/pods", "POST", "resource"],
  ["PUT", "/api/v1/namespaces/n/pods/p", "PUT", "resource"],
  ["PATCH", "/api/v1/namespaces/n/pods/p", "PATCH", "resource"],
  ["DELETE", "/api/v1/namespaces/n/pods/p", "DELETE", "resource"],
  ["DELETE", "/api/v1/namespaces/n/pods", "DELETE", "namespace"],
])("%s %s is a %s of the scope %s", async (method, target, verb, scope) => {
  const lines = await linesAfter(({ observeRequest }) => observeRequest(exchangeOf(method, target), quick));
  const labels = `verb="${verb}",dry_run="",${pods},scope="${scope}",component="apiserver",code="200"`;
  expect(lines).toContain(`apiserver_request_total{${labels}} 1`);
});

test("paths are told apart where upstream does, and other names never become labels", async () => {
  const lines = await linesAfter(({ observeRequest }) => {
    for (const path of ["/readyz", "/evil", "/api/v1/evil", "/api/v1/namespaces/n/pods/p/evil", "/openapi/v3"]) {
      observeRequest(exchangeOf("GET", path), quick);
    }
    observeRequest(exchangeOf("GET", "/api/v1/pods?dryRun=evil&fieldValidation=evil"), quick);
    observeRequest(exchangeOf("EVIL", "/"), quick);
  });
  const text = lines.join("\n");
  expect(text).toContain('verb="GET",dry_run="",group="",version="",resource="",subresource="/readyz"');
  expect(text).toContain('subresource="openapi/v3"');
  expect(text).toContain('dry_run="invalid"');
  expect(text).toContain('field_validation="invalid"');
  expect(text.toLowerCase()).not.toContain("evil");
});

test("the promised duration leaves out webhooks and dry runs", async () => {
  const lines = await linesAfter(({ observeRequest }) => {
    observeRequest(exchangeOf("POST", "/api/v1/namespaces/n/pods", { webhookMs: 750 }), { ...quick, seconds: 1 });
    observeRequest(exchangeOf("POST", "/api/v1/namespaces/n/pods?dryRun=All"), { ...quick, seconds: 1 });
  });
  const labels = `verb="POST",${pods},scope="resource",component="apiserver"`;
  expect(lines).toContain(`apiserver_request_sli_duration_seconds_sum{${labels}} 0.25`);
  expect(lines).toContain(`apiserver_request_sli_duration_seconds_count{${labels}} 1`);
});

test("sizes of answers are counted for reads, sizes of bodies by resource", async () => {
  const lines = await linesAfter(({ observeRequest }) => {
    observeRequest(exchangeOf("GET", "/api/v1/pods"), quick);
    observeRequest(exchangeOf("POST", "/api/v1/namespaces/n/pods", { bodyBytes: 100 }), quick);
    observeRequest(exchangeOf("POST", "/api/v1/namespaces/n/pods?dryRun=All", { bodyBytes: 50 }), quick);
  });
  expect(lines.filter((line) => line.startsWith("apiserver_response_sizes_sum"))).toEqual([
    `apiserver_response_sizes_sum{verb="LIST",${pods},scope="cluster",component="apiserver"} 10`,
  ]);
  expect(lines).toContain('apiserver_request_body_size_bytes_sum{resource="pods",verb="create",group=""} 150');
});

test("requests that are refused, given up or left are counted", async () => {
  const target = "/api/v1/namespaces/n/pods/p";
  const lines = await linesAfter(({ observeRequest, endedLate }) => {
    observeRequest(exchangeOf("GET", target, { isTerminated: true }), { ...quick, code: 504 });
    observeRequest(exchangeOf("GET", target), { ...quick, code: 499 });
    endedLate("ok");
  });
  const labels = `verb="GET",${pods},scope="resource"`;
  expect(lines).toContain(`apiserver_request_terminations_total{${labels},component="apiserver",code="504"} 1`);
  expect(lines).toContain(`apiserver_request_aborts_total{${labels}} 1`);
  expect(lines).toContain('apiserver_request_post_timeout_total{source="timeout-handler",status="ok"} 1');
});

test("a watch of one selected object has the scope of that object while it runs", async () => {
  const watch = exchangeOf("GET", "/api/v1/namespaces/n/pods?watch=1&fieldSelector=metadata.name%3Dp");
  const lines = await linesAfter(({ longRunning }) => longRunning(watch, 1));
  expect(lines).toContain(
    `apiserver_longrunning_requests{verb="WATCH",${pods},scope="resource",component="apiserver"} 1`,
  );
});

test("the number of series is bounded", async () => {
  const registry = new Registry();
  const { observeRequest } = requestMetrics(registry, () => true);
  for (let at = 0; at < requestSeriesMax + 100; at++) observeRequest(exchangeOf("GET", `/api/v1/r${at}`), quick);
  const lines = (await metricsText(registry)).split("\n");
  expect(lines.filter((line) => line.startsWith("apiserver_request_total{"))).toHaveLength(requestSeriesMax + 1);
  expect(lines.find((line) => line.includes('resource="other"'))).toEndWith(" 100");
});
