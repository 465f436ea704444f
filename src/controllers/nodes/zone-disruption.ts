import type { NodeLifecycleSettings } from "./node-lifecycle-settings.ts";

/** Minimum number of unready nodes that disrupts a zone in part. */
const unhealthyMin = 3;

export type ZoneState = "Initial" | "Normal" | "PartialDisruption" | "FullDisruption";

export interface ZoneReadiness {
  readonly ready: number;
  readonly notReady: number;
}

export interface Disruption {
  readonly states: ReadonlyMap<string, ZoneState>;
  /** New rates of the zones that have one. */
  readonly rates: ReadonlyMap<string, number>;
  /** `begins`: no node at all is ready any more. `ends`: some nodes are ready again. */
  readonly total: "begins" | "ends" | undefined;
}

export function zoneStateOf(
  { ready, notReady }: ZoneReadiness,
  { unhealthyFraction }: Pick<NodeLifecycleSettings, "unhealthyFraction">,
): ZoneState {
  if (ready === 0 && notReady > 0) return "FullDisruption";
  const isPartial = notReady >= unhealthyMin && notReady / (notReady + ready) >= unhealthyFraction;
  return isPartial ? "PartialDisruption" : "Normal";
}

/**
 * Decides how fast the nodes of each zone may be tainted. If no node is ready, the fault is more likely ours, so tainting
 * stops.
 */
export function nextDisruption(
  known: ReadonlyMap<string, ZoneState>,
  zones: ReadonlyMap<string, ZoneReadiness>,
  settings: NodeLifecycleSettings,
): Disruption {
  const before = new Map([...zones.keys()].map((zone) => [zone, known.get(zone) ?? "Initial"]));
  const after = new Map([...zones].map(([zone, readiness]) => [zone, zoneStateOf(readiness, settings)]));
  const [wasTotal, isTotal] = [isFull(before), isFull(after)];
  if (isTotal && wasTotal) return { states: after, rates: new Map(), total: undefined };
  if (isTotal) {
    return { states: after, rates: new Map([...after.keys()].map((zone) => [zone, 0])), total: "begins" };
  }
  const changed = [...after].filter(([zone, state]) => wasTotal || state !== before.get(zone));
  const rates = new Map(changed.map(([zone, state]) => [zone, rateOf(state, zones.get(zone), settings)]));
  return { states: after, rates, total: wasTotal ? "ends" : undefined };
}

function isFull(states: ReadonlyMap<string, ZoneState>): boolean {
  return [...states.values()].every((state) => state === "FullDisruption");
}

function rateOf(
  state: ZoneState,
  { ready, notReady }: ZoneReadiness = { ready: 0, notReady: 0 },
  { evictionRate, secondaryEvictionRate, largeZoneSize }: NodeLifecycleSettings,
): number {
  if (state !== "PartialDisruption") return evictionRate;
  return ready + notReady > largeZoneSize ? secondaryEvictionRate : 0;
}
