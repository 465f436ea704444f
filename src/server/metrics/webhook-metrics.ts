import type { Registry } from "prom-client";
import Gauge from "prom-client/lib/gauge.js";
import type { WebhookObserver } from "../../admission/webhook/webhook-observer.ts";
import type { ObservedConversion } from "../../kinds/custom/webhook-conversion.ts";
import { BoundCounter, BoundHistogram } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import type { CountConditions } from "./condition-metrics.ts";

const durationBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const codeMax = 600;

/** Registers the metrics of webhooks, under upstream's names. */
export function webhookMetrics(registry: Registry, countConditions: CountConditions): WebhookObserver {
  const prefix = "apiserver_admission";
  const durations = new BoundHistogram(
    `${prefix}_webhook_admission_duration_seconds`,
    "Duration of calls of admission webhooks.",
    durationBuckets,
  );
  const requests = new BoundCounter(`${prefix}_webhook_request_total`, "Calls of admission webhooks.");
  const rejections = new BoundCounter(`${prefix}_webhook_rejection_count`, "Requests rejected by admission webhooks.");
  const failOpens = new BoundCounter(
    `${prefix}_webhook_fail_open_count`,
    "Failed calls of admission webhooks whose requests were accepted.",
  );
  for (const metric of [durations, requests, rejections, failOpens]) {
    metric.register(registry);
  }
  const open = new Gauge({
    name: "quorate_admission_webhook_circuit_open",
    help: "1 for an admission webhook that is not called because it has stopped answering.",
    labelNames: ["configuration", "name", "type"],
    registers: [registry],
  });
  const durationOf = boundSeries((labels) => durations.labels(labels));
  const requestOf = boundSeries((labels) => requests.labels(labels));
  const rejectionOf = boundSeries((labels) => rejections.labels(labels));
  const failOpenOf = boundSeries((labels) => failOpens.labels(labels));
  return {
    called({ name, type, operation, seconds, isRejected, code }) {
      const rejected = String(isRejected);
      durationOf({ name, type, operation, rejected }).observe(seconds);
      requestOf({ name, type, operation, code: codeText(code), rejected }).value++;
    },
    rejected({ name, type, operation, code }, cause) {
      rejectionOf({ name, type, operation, error_type: cause, rejection_code: codeText(code) }).value++;
    },
    failedOpen(name, type) {
      failOpenOf({ name, type }).value++;
    },
    circuit({ configuration, name, type, state }) {
      if (state === "open") open.set({ configuration, name, type }, 1);
      else open.remove({ configuration, name, type });
    },
    conditions: (name, type, operation, time) => countConditions({ name, kind: "webhook", type, operation }, time),
  };
}

const definitionBuckets = Array.from({ length: 15 }, (_, at) => 0.001 * 2 ** at);
const conversionBuckets = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];

/** Registers the metrics of conversion webhooks; returns a function that counts one call. */
export function conversionMetrics(registry: Registry): (conversion: ObservedConversion) => void {
  const requests = new BoundCounter("apiserver_conversion_webhook_request_total", "Calls of conversion webhooks.");
  const durations = new BoundHistogram(
    "apiserver_conversion_webhook_duration_seconds",
    "Duration of calls of conversion webhooks.",
    conversionBuckets,
  );
  const byDefinition = new BoundHistogram(
    "apiserver_crd_conversion_webhook_duration_seconds",
    "Duration of conversions by webhooks, by definition and versions.",
    definitionBuckets,
  );
  for (const metric of [requests, durations, byDefinition]) metric.register(registry);
  const definitionOf = boundSeries((labels) => byDefinition.labels(labels), ["crd_name", "from_version", "to_version"]);
  const requestOf = boundSeries((labels) => requests.labels(labels));
  const durationOf = boundSeries((labels) => durations.labels(labels));
  return ({ definition, from, to, seconds, failure }) => {
    const succeeded = String(failure === undefined);
    definitionOf({ crd_name: definition, from_version: from, to_version: to, succeeded }).observe(seconds);
    const labels = { result: failure === undefined ? "success" : "failure", failure_type: failure ?? "" };
    requestOf(labels).value++;
    durationOf(labels).observe(seconds);
  };
}

/** Webhooks choose the codes; codes beyond HTTP count as 600. */
function codeText(code: number): string {
  return String(Math.min(code, codeMax));
}
