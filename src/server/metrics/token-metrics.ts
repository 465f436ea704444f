import type { Registry } from "prom-client";
import type { AuthenticationObserver } from "../../access/authentication/authentication-observer.ts";
import { BoundCounter } from "./bound-metric.ts";
import { reloadMetrics } from "./reload-metrics.ts";

/** Registers the metrics of service account tokens and of reloads of the authentication configuration. */
export function tokenMetrics(registry: Registry, serverId: string): AuthenticationObserver {
  const counter = (name: string, help: string) => {
    const family = new BoundCounter(`serviceaccount_${name}`, help);
    family.register(registry);
    return family.labels({});
  };
  const tokens = {
    valid: counter("valid_tokens_total", "Uses of tokens of service accounts before their renewal time."),
    stale: counter("stale_tokens_total", "Uses of tokens of service accounts after their renewal time."),
    legacy: counter("legacy_tokens_total", "Uses of tokens of Secrets."),
  };
  return {
    tokenUsed: (kind) => void tokens[kind].value++,
    reloaded: reloadMetrics(registry, "authentication", serverId),
  };
}
