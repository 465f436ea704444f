import type { Registry } from "prom-client";
import { BoundCounter } from "./bound-metric.ts";

/** Registers the metrics of connections. */
export function listenerMetrics(registry: Registry): { onHandshakeFailed(): void } {
  const errors = new BoundCounter("apiserver_tls_handshake_errors_total", "Connections whose TLS handshake failed.");
  errors.register(registry);
  const child = errors.labels({});
  return { onHandshakeFailed: () => void child.value++ };
}
