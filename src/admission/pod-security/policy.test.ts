import { expect, test } from "bun:test";
import { fieldErrorText } from "../../api/field-error.ts";
import { levelVersionText, policyOf } from "./policy.ts";

const prefixed = (labels: Record<string, string>) =>
  Object.fromEntries(Object.entries(labels).map(([mode, value]) => [`pod-security.kubernetes.io/${mode}`, value]));

test.each([
  [{}, "privileged:latest", "privileged:latest", "privileged:latest"],
  [{ enforce: "baseline" }, "baseline:latest", "privileged:latest", "baseline:latest"],
  [{ enforce: "baseline", "enforce-version": "v1.20" }, "baseline:v1.20", "privileged:latest", "baseline:v1.20"],
  [
    { enforce: "baseline", "enforce-version": "v1.20", "warn-version": "v1.22" },
    "baseline:v1.20",
    "privileged:latest",
    "baseline:v1.22",
  ],
  [{ enforce: "restricted", warn: "privileged" }, "restricted:latest", "privileged:latest", "privileged:latest"],
  [{ audit: "restricted", "audit-version": "v1.9" }, "privileged:latest", "restricted:v1.9", "privileged:latest"],
  [{ enforce: "x", audit: "x", warn: "x" }, "restricted:latest", "privileged:latest", "privileged:latest"],
])("labels %j enforce %s, audit %s, warn %s", (labels, enforce, audit, warn) => {
  const { policy } = policyOf(prefixed(labels));
  expect(Object.values(policy).map(levelVersionText)).toEqual([enforce, audit, warn]);
});

test.each([
  [
    { enforce: "x" },
    'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
  ],
  [
    { "warn-version": "1.20" },
    'metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.20": must be "latest" or "v1.x"',
  ],
  [
    { "audit-version": "v1.01" },
    'metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "v1.01": must be "latest" or "v1.x"',
  ],
])("labels %j are rejected", (labels, text) => {
  expect(policyOf(prefixed(labels)).errors.map(fieldErrorText)).toEqual([text]);
});
