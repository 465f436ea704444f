import { readFileSync } from "node:fs";
import type { Clock } from "../api/clock.ts";
import { StartupError } from "../config/startup-error.ts";
import { kubeconfigEndpoint } from "../outbound/kubeconfig-endpoint.ts";
import type { AuditOptions } from "./audit-options.ts";
import { allBackends, type AuditBackend } from "./backend.ts";
import { logBackend } from "./log-backend.ts";
import { parseAuditPolicy } from "./parse-policy.ts";
import type { AuditPolicy } from "./policy.ts";
import { WebhookBackend } from "./webhook-backend.ts";

export interface OpenAudit {
  readonly policy: AuditPolicy;
  readonly backend: AuditBackend;
}

/** @throws StartupError for a policy or a backend that cannot be used */
export function openAudit(options: AuditOptions, clock: Clock, onError: (error: unknown) => void): OpenAudit {
  const { policyFile, log, webhook } = options;
  const policy = orStartupError("--audit-policy-file", () => parseAuditPolicy(readFileSync(policyFile)));
  const backends: AuditBackend[] = [];
  if (log !== undefined) {
    backends.push(orStartupError("--audit-log-path", () => logBackend({ ...log, clock, onError })));
  }
  if (webhook !== undefined) {
    const { configFile, ...rest } = webhook;
    const endpoint = orStartupError("--audit-webhook-config-file", () => kubeconfigEndpoint(configFile));
    backends.push(new WebhookBackend({ ...rest, endpoint, clock, onError }));
  }
  return { policy, backend: allBackends(backends) };
}

function orStartupError<T>(flag: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new StartupError(`${flag}: ${(error as Error).message}`);
  }
}
