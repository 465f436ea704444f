import type { ZoneReadiness } from "./zone-disruption.ts";

/** Measures the checks of nodes. Zones have the names that `zoneOf` gives them. */
export interface NodeLifecycleObserver {
  zoneAdded(zone: string): void;
  /** Called after each check with all zones that have nodes. */
  zones(zones: ReadonlyMap<string, ZoneReadiness>): void;
  /** Called when a node gets a taint that evicts its pods. */
  evicted(zone: string): void;
  checkedNode(seconds: number): void;
  checkedAll(seconds: number): void;
}
