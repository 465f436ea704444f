import { expect, test } from "bun:test";
import type { Job } from "../api/types/batch-v1.ts";
import { expiryMs } from "./ttl-after-finished.ts";

const end = "2026-01-01T00:00:00Z";
const job = (ttl: number | undefined, ...conditions: readonly (readonly [type: string, status: string])[]): Job => ({
  kind: "Job",
  apiVersion: "batch/v1",
  metadata: { name: "a" },
  spec: { template: {}, ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) } as never,
  status: { conditions: conditions.map(([type, status]) => ({ type, status, lastTransitionTime: end })) },
});

test.each([
  ["complete", job(30, ["Complete", "True"]), 30],
  ["failed", job(0, ["Failed", "True"]), 0],
  ["suspended and complete", job(5, ["Suspended", "True"], ["Complete", "True"]), 5],
  ["not yet complete", job(30, ["Complete", "False"], ["FailureTarget", "True"]), undefined],
  ["running", job(30), undefined],
  ["without a time", job(undefined, ["Complete", "True"]), undefined],
])("a Job that is %s is due after its time, if ever", (_, one, seconds) => {
  expect(expiryMs(one)).toBe((seconds === undefined ? undefined : Date.parse(end) + seconds * 1_000) as never);
});

test("a Job that is being deleted is not due", () => {
  const complete = job(30, ["Complete", "True"]);
  const metadata = { ...complete.metadata, deletionTimestamp: end };
  expect(expiryMs({ ...complete, metadata })).toBeUndefined();
});
