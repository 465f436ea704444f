import { expect, test } from "bun:test";
import { nodeLifecycleDefaults } from "../../controllers/nodes/node-lifecycle-settings.ts";
import { StartupError } from "../../process/startup-error.ts";
import { nodeFlags } from "./node-flags.ts";
import { nodeLifecycleOf } from "./node-lifecycle-options.ts";
import { parseFlag } from "./parse-flag.ts";

test("every flag of upstream's changes its setting", () => {
  expect(nodeLifecycleOf({})).toEqual(nodeLifecycleDefaults);
  const options = {
    nodeMonitorPeriodMs: 1_000,
    nodeMonitorGracePeriodMs: 2_000,
    nodeStartupGracePeriodMs: 3_000,
    nodeEvictionRate: 0.4,
    secondaryNodeEvictionRate: 0.5,
    largeClusterSizeThreshold: 6,
    unhealthyZoneThreshold: 0.7,
  };
  expect(Object.values(nodeLifecycleOf(options))).toEqual([1_000, 2_000, 3_000, 0.4, 0.5, 6, 0.7]);
});

test("a period without a pause is refused", () => {
  expect(() => nodeLifecycleOf({ nodeMonitorPeriodMs: 0 })).toThrow(
    new StartupError("--node-monitor-period: 0ms is too short: give at least 100ms"),
  );
});

test.each([
  ["0", 0],
  ["0.25", 0.25],
  ["1", 1],
])("a fraction of %p is %p", (text, value) => {
  expect(parseFlag("unhealthy-zone-threshold", nodeFlags["unhealthy-zone-threshold"], text, undefined)).toBe(value);
});

test.each(["", "1.1", "-0.1", ".5", "1e-3", "a"])("a fraction of %p is refused", (text) => {
  expect(() => parseFlag("unhealthy-zone-threshold", nodeFlags["unhealthy-zone-threshold"], text, undefined)).toThrow(
    new StartupError(`--unhealthy-zone-threshold: ${JSON.stringify(text)} is not a number from 0 to 1`),
  );
});
