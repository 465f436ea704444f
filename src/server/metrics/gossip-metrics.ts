import type { Registry } from "prom-client";
import Gauge from "prom-client/lib/gauge.js";
import type { Gossip } from "../../cluster/gossip/gossip.ts";
import { type DropReason, dropReasons } from "../../cluster/gossip/network.ts";
import { BoundCounter, type CounterChild } from "./bound-metric.ts";

/** Registers metrics of dropped gossip messages, and of the time since each member was last heard from. */
export function gossipMetrics(registry: Registry, peers: Gossip["peers"]): { onDropped(reason: DropReason): void } {
  const dropped = new BoundCounter(
    "quorate_gossip_dropped_total",
    "Connections and messages of gossip that were refused, by reason.",
  );
  dropped.register(registry);
  const children = Object.fromEntries(dropReasons.map((reason) => [reason, dropped.labels({ reason })])) as Record<
    DropReason,
    CounterChild
  >;
  const age: Gauge = new Gauge({
    name: "quorate_gossip_peer_age_seconds",
    help: "Time since gossip last heard from another member.",
    labelNames: ["member"],
    registers: [registry],
    collect() {
      age.reset();
      for (const [member, { ageMs }] of peers()) age.set({ member: String(member) }, ageMs / 1_000);
    },
  });
  return { onDropped: (reason) => void children[reason].value++ };
}
