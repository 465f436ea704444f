import type { Registry } from "prom-client";
import type { AuditMetrics } from "../../access/audit/open-audit.ts";
import { BoundCounter } from "./bound-metric.ts";

/** Registers the counters under upstream's names. */
export function auditMetrics(registry: Registry): AuditMetrics {
  const events = new BoundCounter("apiserver_audit_event_total", "Audit events that were made.");
  const lost = new BoundCounter("apiserver_audit_error_total", "Audit events that a backend lost, by the backend.");
  for (const metric of [events, lost]) metric.register(registry);
  return {
    events: events.labels({}),
    lost: {
      log: lost.labels({ plugin: "log" }),
      webhook: lost.labels({ plugin: "webhook" }),
      truncate: lost.labels({ plugin: "truncate" }),
    },
  };
}
