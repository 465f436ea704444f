import type { NodeLifecycleSettings } from "../../controllers/nodes/node-lifecycle-settings.ts";
import { StartupError } from "../../process/startup-error.ts";
import { nodeFlags } from "./node-flags.ts";

/** Checks of all nodes that come more often than this leave no time for anything else. */
const monitorPeriodMsMin = 100;

export interface NodeLifecycleOptions {
  readonly nodeMonitorPeriodMs?: number | undefined;
  readonly nodeMonitorGracePeriodMs?: number | undefined;
  readonly nodeStartupGracePeriodMs?: number | undefined;
  readonly nodeEvictionRate?: number | undefined;
  readonly secondaryNodeEvictionRate?: number | undefined;
  readonly largeClusterSizeThreshold?: number | undefined;
  readonly unhealthyZoneThreshold?: number | undefined;
}

/** @throws StartupError that names the flag, the mistake and the remedy */
export function nodeLifecycleOf(options: NodeLifecycleOptions): NodeLifecycleSettings {
  const monitorPeriodMs = options.nodeMonitorPeriodMs ?? nodeFlags["node-monitor-period"].default;
  if (monitorPeriodMs < monitorPeriodMsMin) {
    throw new StartupError(`--node-monitor-period: ${monitorPeriodMs}ms is too short: give at least 100ms`);
  }
  return {
    monitorPeriodMs,
    monitorGraceMs: options.nodeMonitorGracePeriodMs ?? nodeFlags["node-monitor-grace-period"].default,
    startupGraceMs: options.nodeStartupGracePeriodMs ?? nodeFlags["node-startup-grace-period"].default,
    evictionRate: options.nodeEvictionRate ?? nodeFlags["node-eviction-rate"].default,
    secondaryEvictionRate: options.secondaryNodeEvictionRate ?? nodeFlags["secondary-node-eviction-rate"].default,
    largeZoneSize: options.largeClusterSizeThreshold ?? nodeFlags["large-cluster-size-threshold"].default,
    unhealthyFraction: options.unhealthyZoneThreshold ?? nodeFlags["unhealthy-zone-threshold"].default,
  };
}
