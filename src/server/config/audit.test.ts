import { describe, expect, test } from "bun:test";
import { auditOptionsOf } from "./audit.ts";

const log = { auditPolicyFile: "/policy", auditLogPath: "-" };
const webhook = { auditPolicyFile: "/policy", auditWebhookConfigFile: "/config" };
const kib = 1024;

describe("auditOptionsOf()", () => {
  test("leaves events as large as they are, unless told", () => {
    expect(auditOptionsOf(log)?.log).toMatchObject({ format: "json", mode: "blocking", truncation: undefined });
    expect(auditOptionsOf({ ...log, auditLogTruncateMaxEventSize: 5 })?.log?.truncation).toBeUndefined();
    expect(auditOptionsOf(webhook)?.webhook?.truncation).toBeUndefined();
  });

  test("has upstream's sizes, each backend its own", () => {
    const defaults = { eventBytesMax: 100 * kib, batchBytesMax: 10 * kib * kib };
    expect(auditOptionsOf({ ...log, auditLogTruncateEnabled: true })?.log?.truncation).toEqual(defaults);
    const both = { ...log, ...webhook, auditWebhookTruncateEnabled: true, auditWebhookTruncateMaxEventSize: 5 };
    expect(auditOptionsOf(both)?.log?.truncation).toBeUndefined();
    expect(auditOptionsOf(both)?.webhook?.truncation).toEqual({ ...defaults, eventBytesMax: 5 });
  });

  test.each([
    [{ auditLogPath: "-" }, "--audit-log-path: nothing is recorded without --audit-policy-file"],
    [
      { auditWebhookConfigFile: "/config" },
      "--audit-webhook-config-file: nothing is recorded without --audit-policy-file",
    ],
    [{ ...log, auditLogFormat: ["json", "legacy"] }, "--audit-log-format: name one"],
    [{ ...log, auditLogMode: [] }, "--audit-log-mode: name one"],
    [{ ...log, auditLogTruncateMaxBatchSize: 5 }, "--audit-log-truncate-max-batch-size: 5 is less than the"],
    [
      { ...webhook, auditWebhookTruncateMaxEventSize: 20 * kib * kib },
      "--audit-webhook-truncate-max-batch-size: 10485760 is less than the 20971520 bytes that --audit-webhook-truncate-max-event-size allows one event",
    ],
  ])("refuses %j", (options, text) => expect(() => auditOptionsOf(options)).toThrow(text));
});
