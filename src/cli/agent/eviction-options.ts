import { type EvictionSettings, evictionLimits } from "../../agent/eviction/eviction-limits.ts";
import {
  type EvictionThresholds,
  parseEvictionAmounts,
  parseEvictionThresholds,
  parseSignals,
} from "../../agent/node/eviction-thresholds.ts";
import { StartupError } from "../../process/startup-error.ts";
import { parseDurationMs } from "../../server/config/duration.ts";
import { type AgentFlagValues, agentFlags } from "./agent-flags.ts";

/** @throws StartupError that names the flag */
export function evictionHardOf(flags: AgentFlagValues): EvictionThresholds {
  const text = flags["eviction-hard"] ?? agentFlags["eviction-hard"].default;
  return parsed("eviction-hard", text, parseEvictionThresholds);
}

/** @throws StartupError that names the flag */
export function evictionOf(flags: AgentFlagValues): EvictionSettings {
  const transition = "eviction-pressure-transition-period";
  const podGrace = "eviction-max-pod-grace-period";
  const parts = {
    hard: evictionHardOf(flags),
    soft: parsed("eviction-soft", flags["eviction-soft"] ?? "", parseEvictionThresholds),
    graceMs: parsed("eviction-soft-grace-period", flags["eviction-soft-grace-period"] ?? "", parseGracePeriods),
    reclaim: parsed("eviction-minimum-reclaim", flags["eviction-minimum-reclaim"] ?? "", parseEvictionAmounts),
  };
  return {
    limits: parsed("eviction-soft", parts, evictionLimits),
    transitionMs: flags[transition] ?? agentFlags[transition].default,
    podGraceSecondsMax: flags[podGrace] ?? agentFlags[podGrace].default,
  };
}

function parseGracePeriods(text: string) {
  return parseSignals(text, "=", "duration", (value) => {
    const ms = parseDurationMs(value);
    if (ms === undefined || ms <= 0) throw new Error(`${JSON.stringify(value)} is not a duration above 0`);
    return ms;
  });
}

function parsed<Value, Result>(flag: string, value: Value, parse: (value: Value) => Result): Result {
  try {
    return parse(value);
  } catch (error) {
    throw new StartupError(`--${flag}: ${(error as Error).message}`);
  }
}
