import type { Registry } from "prom-client";
import type { Catalog } from "../../registry/catalog.ts";
import { BoundCounter, CollectedFamily } from "./bound-metric.ts";
import type { Sample } from "./exposition.ts";

/** Registers the availability of each group version. This server serves all of them, so all are available. */
export function aggregationMetrics(registry: Registry, catalog: Pick<Catalog, "groups">): void {
  const collect = function* (): Generator<Sample> {
    for (const { group, versions } of catalog.groups()) {
      for (const version of versions) yield [{ name: `${version}.${group}` }, 0];
    }
  };
  const name = "aggregator_unavailable_apiservice";
  new CollectedFamily(name, "1 for a group version that is not available.", "gauge", collect).register(registry);
  new BoundCounter(`${name}_total`, "Times that a group version became unavailable, by reason.").register(registry);
}
