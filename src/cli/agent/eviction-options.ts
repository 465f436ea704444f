import { type EvictionSettings, evictionLimits } from "../../agent/eviction/eviction-limits.ts";
import {
  type EvictionThresholds,
  parseEvictionAmounts,
  parseEvictionThresholds,
  parseSignals,
} from "../../agent/node/eviction-thresholds.ts";
import { orStartupError } from "../../process/or-startup-error.ts";
import { parseDurationMs } from "../../server/config/duration.ts";
import { type AgentFlagValues, agentFlagValue } from "./agent-flags.ts";

/** @throws StartupError that names the flag */
export function evictionHardOf(flags: AgentFlagValues): EvictionThresholds {
  return orStartupError("--eviction-hard", () => parseEvictionThresholds(agentFlagValue(flags, "eviction-hard")));
}

/** @throws StartupError that names the flag */
export function evictionOf(flags: AgentFlagValues): EvictionSettings {
  const parts = {
    hard: evictionHardOf(flags),
    soft: orStartupError("--eviction-soft", () => parseEvictionThresholds(flags["eviction-soft"] ?? "")),
    graceMs: orStartupError("--eviction-soft-grace-period", () =>
      parseGracePeriods(flags["eviction-soft-grace-period"] ?? ""),
    ),
    reclaim: orStartupError("--eviction-minimum-reclaim", () =>
      parseEvictionAmounts(flags["eviction-minimum-reclaim"] ?? ""),
    ),
  };
  return {
    limits: orStartupError("--eviction-soft", () => evictionLimits(parts)),
    transitionMs: agentFlagValue(flags, "eviction-pressure-transition-period"),
    podGraceSecondsMax: agentFlagValue(flags, "eviction-max-pod-grace-period"),
  };
}

function parseGracePeriods(text: string) {
  return parseSignals(text, "=", "duration", (value) => {
    const ms = parseDurationMs(value);
    if (ms === undefined || ms <= 0) throw new Error(`${JSON.stringify(value)} is not a duration above 0`);
    return ms;
  });
}
