import type { SliceOperation } from "./slice-writes.ts";

/** Measures a controller of EndpointSlices. */
export interface SliceObserver {
  /** Counts a slice that was written. */
  changed(operation: SliceOperation): void;
  /** Counts a sync of the slices of one service. */
  synced(sync: SliceSync): void;
  /** Reads the totals of all services at each scrape, until the result is disposed of. */
  observeTotals(read: () => SliceTotals): Disposable;
}

export interface SliceSync {
  readonly result: "success" | "error";
  readonly seconds: number;
  /** Undefined if the sync ended before the comparison. */
  readonly outcome: SliceOutcome | undefined;
}

export interface SliceOutcome {
  /** Number of endpoints. */
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
  /** Number of addresses that were left out. */
  readonly skipped: number;
  /** Number of slices to write. */
  readonly changes: number;
  /** `trafficDistribution` of the service if it has an effect, otherwise empty. */
  readonly trafficDistribution: string;
}

export interface SliceTotals {
  readonly endpoints: number;
  readonly slices: number;
  /** Number of slices if all were full. */
  readonly slicesNeeded: number;
  /** Services by their traffic distribution. */
  readonly distributions: ReadonlyMap<string, number>;
}
