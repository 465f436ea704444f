/** The times and rates of the node lifecycle controller. Upstream has a flag for each. */
export interface NodeLifecycleSettings {
  /** Time between two checks of all nodes. */
  readonly monitorPeriodMs: number;
  /** Time without a sign of life after which a node is unreachable. */
  readonly monitorGraceMs: number;
  /** The same for a node that has never reported, counted from its creation. */
  readonly startupGraceMs: number;
  /** Number of nodes per second in a zone that get taints which evict their pods. */
  readonly evictionRate: number;
  /** The same in a large zone that is partly disrupted. */
  readonly secondaryEvictionRate: number;
  /** The size up to which a partly disrupted zone gets no such taints at all. */
  readonly largeZoneSize: number;
  /** Fraction of unready nodes from which a zone is partly disrupted. */
  readonly unhealthyFraction: number;
}

/** Upstream's defaults. */
export const nodeLifecycleDefaults: NodeLifecycleSettings = {
  monitorPeriodMs: 5_000,
  monitorGraceMs: 50_000,
  startupGraceMs: 60_000,
  evictionRate: 0.1,
  secondaryEvictionRate: 0.01,
  largeZoneSize: 50,
  unhealthyFraction: 0.55,
};
