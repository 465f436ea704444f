import Gauge from "prom-client/lib/gauge.js";
import type { Registry } from "prom-client";
import type { WebhookObserver } from "../../admission/webhook/webhook-observer.ts";
import type { ConversionFailure } from "../../kinds/custom/webhook-conversion.ts";
import { BoundCounter, BoundHistogram } from "./bound-metric.ts";

const durationBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const conditionBuckets = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
/** Combinations of labels that a metric has. Names of webhooks are chosen by users, so others are counted as `other`. */
const seriesMax = 1_024;
const codeMax = 600;

type Labels = Readonly<Record<string, string>>;

/** Registers what is counted of webhooks under upstream's names. */
export function webhookMetrics(registry: Registry): WebhookObserver {
  const prefix = "apiserver_admission";
  const durations = new BoundHistogram(
    `${prefix}_webhook_admission_duration_seconds`,
    "Duration of calls of admission webhooks.",
    durationBuckets,
  );
  const requests = new BoundCounter(`${prefix}_webhook_request_total`, "Calls of admission webhooks.");
  const rejections = new BoundCounter(`${prefix}_webhook_rejection_count`, "Requests refused by admission webhooks.");
  const failOpens = new BoundCounter(
    `${prefix}_webhook_fail_open_count`,
    "Calls of admission webhooks that failed and let the request pass.",
  );
  const exclusions = new BoundCounter(
    `${prefix}_match_condition_exclusions_total`,
    "Requests excluded by match conditions.",
  );
  const failures = new BoundCounter(
    `${prefix}_match_condition_evaluation_errors_total`,
    "Match conditions that could not be evaluated.",
  );
  const evaluations = new BoundHistogram(
    `${prefix}_match_condition_evaluation_seconds`,
    "Duration of the evaluation of match conditions.",
    conditionBuckets,
  );
  for (const metric of [durations, requests, rejections, failOpens, exclusions, failures, evaluations]) {
    metric.register(registry);
  }
  const open = new Gauge({
    name: "quorate_admission_webhook_circuit_open",
    help: "1 for an admission webhook that is not called because it does not answer.",
    labelNames: ["configuration", "name", "type"],
    registers: [registry],
  });
  const durationOf = series((labels) => durations.labels(labels));
  const requestOf = series((labels) => requests.labels(labels));
  const rejectionOf = series((labels) => rejections.labels(labels));
  const failOpenOf = series((labels) => failOpens.labels(labels));
  const exclusionOf = series((labels) => exclusions.labels(labels));
  const failureOf = series((labels) => failures.labels(labels));
  const evaluationOf = series((labels) => evaluations.labels(labels));
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
    conditions(name, type, operation, { seconds, isExcluded, hasFailed }) {
      const labels = { name, kind: "webhook", type, operation };
      evaluationOf(labels).observe(seconds);
      if (isExcluded) exclusionOf(labels).value++;
      if (hasFailed) failureOf(labels).value++;
    },
  };
}

const conversionBuckets = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];

/** Registers what is counted of the conversion of custom resources; returns a function that counts one call. */
export function conversionMetrics(
  registry: Registry,
): (seconds: number, failure: ConversionFailure | undefined) => void {
  const requests = new BoundCounter("apiserver_conversion_webhook_request_total", "Calls of conversion webhooks.");
  const durations = new BoundHistogram(
    "apiserver_conversion_webhook_duration_seconds",
    "Duration of calls of conversion webhooks.",
    conversionBuckets,
  );
  for (const metric of [requests, durations]) metric.register(registry);
  const requestOf = series((labels) => requests.labels(labels));
  const durationOf = series((labels) => durations.labels(labels));
  return (seconds, failure) => {
    const labels = { result: failure === undefined ? "success" : "failure", failure_type: failure ?? "" };
    requestOf(labels).value++;
    durationOf(labels).observe(seconds);
  };
}

/** Codes are given by webhooks; those beyond HTTP count as 600. */
function codeText(code: number): string {
  return String(Math.min(code, codeMax));
}

/** Keeps the children of a metric by their labels. */
function series<Child>(make: (labels: Labels) => Child): (labels: Labels) => Child {
  const children = new Map<string, Child>();
  return (labels) => {
    const own = JSON.stringify(labels);
    const known = children.get(own);
    if (known !== undefined) return known;
    const key = children.size < seriesMax ? own : JSON.stringify({ ...labels, name: "other" });
    let child = children.get(key);
    if (child === undefined) {
      child = make(JSON.parse(key));
      children.set(key, child);
    }
    return child;
  };
}
