import { readFileSync } from "node:fs";
import { kubeconfigEndpoint } from "../../client/kubeconfig-endpoint.ts";
import type { Clock } from "../../process/clock.ts";
import { orStartupError } from "../../process/or-startup-error.ts";
import type { AuditOptions } from "./audit-options.ts";
import { type AuditBackend, allBackends, encodedBackend } from "./backend.ts";
import { eventEncoder } from "./encode-event.ts";
import { logBackend } from "./log-backend.ts";
import { parseAuditPolicy } from "./parse-policy.ts";
import type { AuditPolicy } from "./policy.ts";
import type { FileSharing } from "./rotating-file.ts";
import { WebhookBackend } from "./webhook-backend.ts";

export interface OpenAudit {
  readonly policy: AuditPolicy;
  readonly backend: AuditBackend;
}

/** Counters of audit events. */
export interface AuditMetrics {
  readonly events: Counter;
  /** `truncate`: events that were too large for a backend. */
  readonly lost: { readonly log: Counter; readonly webhook: Counter; readonly truncate: Counter };
}

interface Counter {
  value: number;
}

export interface AuditParts {
  readonly clock: Clock;
  /** Set if several processes write to the log. */
  readonly sharing?: FileSharing | undefined;
  readonly metrics: AuditMetrics;
  /** Receives reports of lost events. */
  onError(error: unknown): void;
}

/** Opens audit. @throws StartupError for an unusable policy or backend */
export function openAudit(options: AuditOptions, { clock, sharing, metrics, onError }: AuditParts): OpenAudit {
  const { policyFile, log, webhook } = options;
  const policy = orStartupError("--audit-policy-file", () => parseAuditPolicy(readFileSync(policyFile)));
  const { truncate: dropped } = metrics.lost;
  const backends: AuditBackend[] = [];
  if (log !== undefined) {
    const { log: lost } = metrics.lost;
    const encode = eventEncoder({ ...log, dropped, onError });
    backends.push(
      orStartupError("--audit-log-path", () => logBackend({ ...log, encode, clock, sharing, lost, onError })),
    );
  }
  if (webhook !== undefined) {
    const { configFile, ...rest } = webhook;
    const { webhook: lost } = metrics.lost;
    const endpoint = orStartupError("--audit-webhook-config-file", () => kubeconfigEndpoint(configFile));
    const receiver = new WebhookBackend({ ...rest, endpoint, clock, lost, onError });
    backends.push(encodedBackend(eventEncoder({ ...rest, format: "json", dropped, onError }), receiver));
  }
  const all = allBackends(backends);
  const write: AuditBackend["write"] = (event) => {
    metrics.events.value++;
    return all.write(event);
  };
  return { policy, backend: { write, close: () => all.close() } };
}
