import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import type { PeerHealth } from "../../cluster/gossip/gossip.ts";
import { gossipMetrics } from "./gossip-metrics.ts";
import { metricsText } from "./testing.ts";

test("dropped messages are counted by reason, and the age of the last one is shown by member", async () => {
  const registry = new Registry();
  const peers = new Map([[2, { ageMs: 1_500 } as PeerHealth]]);
  const { onDropped } = gossipMetrics(registry, () => peers);
  onDropped("replayed");
  onDropped("replayed");
  const text = await metricsText(registry);
  expect(text).toContain('quorate_gossip_dropped_total{reason="replayed"} 2');
  expect(text).toContain('quorate_gossip_dropped_total{reason="stranger"} 0');
  expect(text).toContain('quorate_gossip_peer_age_seconds{member="2"} 1.5');
  peers.clear();
  expect(await metricsText(registry)).not.toContain('member="2"');
});
