import { type NodeLifecycleSettings, nodeLifecycleDefaults } from "../../controllers/nodes/node-lifecycle-settings.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { FlagOptions } from "./flags.ts";

/** Checks of all nodes that come more often than this leave no time for anything else. */
const monitorPeriodMsMin = 100;

/** @throws StartupError that names the flag, the mistake and the remedy */
export function nodeLifecycleOf(options: FlagOptions): NodeLifecycleSettings {
  const defaults = nodeLifecycleDefaults;
  const monitorPeriodMs = options.nodeMonitorPeriodMs ?? defaults.monitorPeriodMs;
  if (monitorPeriodMs < monitorPeriodMsMin) {
    throw new StartupError(
      `--node-monitor-period: ${monitorPeriodMs}ms is too short: give at least ${monitorPeriodMsMin}ms`,
    );
  }
  return {
    monitorPeriodMs,
    monitorGraceMs: options.nodeMonitorGracePeriodMs ?? defaults.monitorGraceMs,
    startupGraceMs: options.nodeStartupGracePeriodMs ?? defaults.startupGraceMs,
    evictionRate: options.nodeEvictionRate ?? defaults.evictionRate,
    secondaryEvictionRate: options.secondaryNodeEvictionRate ?? defaults.secondaryEvictionRate,
    largeZoneSize: options.largeClusterSizeThreshold ?? defaults.largeZoneSize,
    unhealthyFraction: options.unhealthyZoneThreshold ?? defaults.unhealthyFraction,
  };
}
