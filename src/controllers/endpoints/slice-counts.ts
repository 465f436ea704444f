import type { SliceTotals } from "./slice-observer.ts";

/** The counts of one service. */
export interface ServiceCounts {
  readonly slices: number;
  /** Numbers of endpoints that share slices. */
  readonly endpoints: readonly number[];
  readonly trafficDistribution: string;
}

/** Adds up the counts of all services. */
export class SliceCounts {
  readonly #services = new Map<string, ServiceCounts>();
  readonly #endpointsPerSlice: number;

  constructor(endpointsPerSlice: number) {
    this.#endpointsPerSlice = endpointsPerSlice;
  }

  set(service: string, counts: ServiceCounts): void {
    this.#services.set(service, counts);
  }

  delete(service: string): void {
    this.#services.delete(service);
  }

  totals(): SliceTotals {
    const distributions = new Map<string, number>();
    let [endpoints, slices, slicesNeeded] = [0, 0, 0];
    for (const counts of this.#services.values()) {
      const { trafficDistribution } = counts;
      slices += counts.slices;
      endpoints += counts.endpoints.reduce((total, count) => total + count, 0);
      const needed = counts.endpoints.map((count) => Math.ceil(count / this.#endpointsPerSlice));
      // A service without endpoints has a slice too.
      slicesNeeded += Math.max(
        1,
        needed.reduce((total, count) => total + count, 0),
      );
      if (trafficDistribution === "") continue;
      distributions.set(trafficDistribution, (distributions.get(trafficDistribution) ?? 0) + 1);
    }
    return { endpoints, slices, slicesNeeded, distributions };
  }
}
