import { expect, test } from "bun:test";
import { parseEvictionAmounts, parseEvictionThresholds } from "../node/eviction-thresholds.ts";
import { evictionConfiguration } from "./eviction-configuration.ts";
import { evictionLimits } from "./eviction-limits.ts";

test.each(["7%", "14%", "29%", "0.35%", "99.999%"])("shows %s as it was given", (percentage) => {
  const limits = evictionLimits({ hard: parseEvictionThresholds(`nodefs.available<${percentage}`) });
  const { evictionHard } = evictionConfiguration({ limits, transitionMs: 300_000, podGraceSecondsMax: 30 });
  expect(evictionHard).toEqual({ "nodefs.available": percentage });
});

test("shows hard and soft limits apart", () => {
  const limits = evictionLimits({
    hard: parseEvictionThresholds("memory.available<1Ki,nodefs.available<10%"),
    soft: parseEvictionThresholds("memory.available<2Ki"),
    graceMs: new Map([["memory.available", 90_000]] as const),
    reclaim: parseEvictionAmounts("nodefs.available=5%"),
  });
  expect(evictionConfiguration({ limits, transitionMs: 300_000, podGraceSecondsMax: 30 })).toEqual({
    evictionHard: { "memory.available": "1024", "nodefs.available": "10%" },
    evictionSoft: { "memory.available": "2048" },
    evictionSoftGracePeriod: { "memory.available": "90s" },
    evictionMinimumReclaim: { "nodefs.available": "5%" },
    evictionMaxPodGracePeriod: 30,
    evictionPressureTransitionPeriod: "300s",
  });
});
