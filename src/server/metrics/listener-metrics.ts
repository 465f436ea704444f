import type { Registry } from "prom-client";
import { BoundCounter } from "./bound-metric.ts";

/** Registers what is counted of connections. */
export function listenerMetrics(registry: Registry): { onHandshakeFailed(): void } {
  const errors = new BoundCounter(
    "apiserver_tls_handshake_errors_total",
    "Connections that failed in their TLS handshake.",
  );
  errors.register(registry);
  const child = errors.labels({});
  return { onHandshakeFailed: () => void child.value++ };
}
