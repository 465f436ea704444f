import type { Registry } from "prom-client";
import { leaderLeaseName } from "../../controllers/server-controllers.ts";
import { CollectedFamily } from "./bound-metric.ts";
import type { Sample } from "./exposition.ts";

/** Upstream's dashboards know controllers by the program that runs them. */
const manager = "kube-controller-manager";

/** Registers whether this server leads, and the controllers that it runs as the leader. */
export function leaderMetrics(registry: Registry, controllers: Iterable<string>, isLeader: () => boolean): void {
  const running = function* (): Generator<Sample> {
    for (const name of controllers) yield [{ name, manager }, isLeader() ? 1 : 0];
  };
  new CollectedFamily(
    "leader_election_master_status",
    "1 on the server that holds the lease, 0 on the others.",
    "gauge",
    () => [[{ name: leaderLeaseName }, isLeader() ? 1 : 0]],
  ).register(registry);
  new CollectedFamily(
    "running_managed_controllers",
    "1 for a controller that runs on this server.",
    "gauge",
    running,
  ).register(registry);
}
