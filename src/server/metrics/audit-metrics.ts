import type { Registry } from "prom-client";
import type { AuditMetrics } from "../../access/audit/open-audit.ts";
import { levels } from "../../access/audit/policy.ts";
import type { AuditFilterMetrics } from "../../http/filters/audit.ts";
import { BoundCounter } from "./bound-metric.ts";

export interface AuditCounters {
  readonly events: AuditMetrics;
  readonly filter: AuditFilterMetrics;
}

/** Registers the counters under upstream's names. They stay at zero if nothing is recorded. */
export function auditMetrics(registry: Registry): AuditCounters {
  const events = new BoundCounter("apiserver_audit_event_total", "Audit events that were generated.");
  const lost = new BoundCounter("apiserver_audit_error_total", "Audit events that were lost, by backend.");
  const requests = new BoundCounter("apiserver_audit_level_total", "Requests by audit level.");
  const rejected = new BoundCounter(
    "apiserver_audit_requests_rejected_total",
    "Requests that failed because they could not be recorded.",
  );
  for (const family of [events, lost, requests, rejected]) family.register(registry);
  const rejections = rejected.labels({});
  const byLevel = new Map(levels.map((level) => [level, requests.labels({ level })]));
  return {
    events: {
      events: events.labels({}),
      lost: {
        log: lost.labels({ plugin: "log" }),
        webhook: lost.labels({ plugin: "webhook" }),
        truncate: lost.labels({ plugin: "truncate" }),
      },
    },
    filter: {
      judged(level) {
        const counter = byLevel.get(level);
        if (counter !== undefined) counter.value++;
      },
      rejected: () => void rejections.value++,
    },
  };
}
