import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Registry from "prom-client/lib/registry.js";
import type { HealthEndpoint } from "../../http/health.ts";
import type { Handler } from "../../request/exchange.ts";
import { expositionType } from "./exposition.ts";

/** The results of health checks for `/metrics/slis`. A check appears after its first run. */
export interface HealthMetrics {
  observe(endpoint: HealthEndpoint, check: string, passed: boolean): void;
  /** Returns the text of `GET /metrics/slis`. */
  readonly handle: Handler;
}

export function createHealthMetrics(startedMs: number): HealthMetrics {
  const registry = new Registry();
  const registers = [registry];
  const last = new Gauge({
    name: "kubernetes_healthcheck",
    help: "[STABLE] This metric records the result of a single healthcheck.",
    labelNames: ["name", "type"],
    registers,
  });
  const total = new Counter({
    name: "kubernetes_healthchecks_total",
    help: "[STABLE] This metric records the results of all healthcheck.",
    labelNames: ["name", "status", "type"],
    registers,
  });
  const start = new Gauge({
    name: "process_start_time_seconds",
    help: "[ALPHA] Start time of the process since unix epoch in seconds.",
    registers,
  });
  start.set(startedMs / 1_000);
  return {
    observe(type, name, passed) {
      last.set({ name, type }, passed ? 1 : 0);
      total.inc({ name, status: passed ? "success" : "error", type });
    },
    handle: async () => ({
      kind: "reply",
      code: 200,
      headers: [
        ["content-type", expositionType],
        ["process-start-time-unix", String(Math.floor(startedMs / 1_000))],
      ],
      body: new TextEncoder().encode(await registry.metrics()),
    }),
  };
}
