import { resolve } from "node:path";
import type { AuditMode, AuditOptions, LogFormat, TruncationOptions } from "../../access/audit/audit-options.ts";
import { StartupError } from "../../process/startup-error.ts";
import { type FlagOptions, flags } from "./flags.ts";

const bytesPerMegabyte = 1024 * 1024;
const msPerDay = 86_400_000;

/**
 * Returns undefined if nothing is recorded, for lack of a policy or a backend. @throws StartupError for a contradiction
 */
export function auditOptionsOf(options: FlagOptions): AuditOptions | undefined {
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile } = options;
  if (auditPolicyFile === undefined) {
    // A backend without a policy records nothing, which surprises a user who named one.
    const where = auditLogPath === undefined ? "--audit-webhook-config-file" : "--audit-log-path";
    if (auditLogPath === undefined && auditWebhookConfigFile === undefined) return undefined;
    throw new StartupError(`${where}: nothing is recorded without --audit-policy-file: add it`);
  }
  if (auditLogPath === undefined && auditWebhookConfigFile === undefined) return undefined;
  return { policyFile: auditPolicyFile, log: logOptions(options), webhook: webhookOptions(options) };
}

function logOptions(options: FlagOptions): AuditOptions["log"] {
  const { auditLogPath } = options;
  if (auditLogPath === undefined) return undefined;
  return {
    file: auditLogPath === "-" ? "-" : resolve(auditLogPath),
    format: chosenOne<LogFormat>("--audit-log-format", options.auditLogFormat ?? flags["audit-log-format"].default),
    mode: chosenOne<AuditMode>("--audit-log-mode", options.auditLogMode ?? flags["audit-log-mode"].default),
    truncation: truncationOptions("audit-log-truncate", {
      enabled: options.auditLogTruncateEnabled,
      eventBytesMax: options.auditLogTruncateMaxEventSize,
      batchBytesMax: options.auditLogTruncateMaxBatchSize,
    }),
    sizeBytesMax: (options.auditLogMaxsize ?? flags["audit-log-maxsize"].default) * bytesPerMegabyte,
    ageMsMax: (options.auditLogMaxage ?? flags["audit-log-maxage"].default) * msPerDay,
    backupsMax: options.auditLogMaxbackup ?? flags["audit-log-maxbackup"].default,
  };
}

function webhookOptions(options: FlagOptions): AuditOptions["webhook"] {
  const { auditWebhookConfigFile: configFile } = options;
  if (configFile === undefined) return undefined;
  return {
    configFile,
    mode: chosenOne<AuditMode>("--audit-webhook-mode", options.auditWebhookMode ?? flags["audit-webhook-mode"].default),
    truncation: truncationOptions("audit-webhook-truncate", {
      enabled: options.auditWebhookTruncateEnabled,
      eventBytesMax: options.auditWebhookTruncateMaxEventSize,
      batchBytesMax: options.auditWebhookTruncateMaxBatchSize,
    }),
    bufferSize: options.auditWebhookBatchBufferSize ?? flags["audit-webhook-batch-buffer-size"].default,
    batchSizeMax: options.auditWebhookBatchMaxSize ?? flags["audit-webhook-batch-max-size"].default,
    batchWaitMs: options.auditWebhookBatchMaxWaitMs ?? flags["audit-webhook-batch-max-wait"].default,
    initialBackoffMs: options.auditWebhookInitialBackoffMs ?? flags["audit-webhook-initial-backoff"].default,
    throttleQps: options.auditWebhookBatchThrottleQps ?? flags["audit-webhook-batch-throttle-qps"].default,
    throttleBurst: options.auditWebhookBatchThrottleBurst ?? flags["audit-webhook-batch-throttle-burst"].default,
  };
}

interface TruncationFlags {
  readonly enabled: boolean | undefined;
  readonly eventBytesMax: number | undefined;
  readonly batchBytesMax: number | undefined;
}

/** @throws StartupError for sizes that contradict each other, even if truncation is off */
function truncationOptions(
  prefix: "audit-log-truncate" | "audit-webhook-truncate",
  given: TruncationFlags,
): TruncationOptions | undefined {
  const eventBytesMax = given.eventBytesMax ?? flags[`${prefix}-max-event-size`].default;
  const batchBytesMax = given.batchBytesMax ?? flags[`${prefix}-max-batch-size`].default;
  if (batchBytesMax < eventBytesMax) {
    throw new StartupError(
      `--${prefix}-max-batch-size: ${batchBytesMax} is less than the ${eventBytesMax} bytes that --${prefix}-max-event-size allows one event: give at least that`,
    );
  }
  return given.enabled === true ? { eventBytesMax, batchBytesMax } : undefined;
}

function chosenOne<T extends string>(flag: string, chosen: readonly string[]): T {
  if (chosen.length !== 1) throw new StartupError(`${flag}: name one`);
  return chosen[0] as T;
}
