import type { Registry } from "prom-client";
import { allApis, type ServedApi, type ServedApis } from "../../kinds/apiregistration/api-services.ts";
import { availableCondition } from "../../kinds/apiregistration/available-condition.ts";
import { BoundCounter, CollectedFamily } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import type { Sample } from "./exposition.ts";

/** Measures the availability of each group version. Every server measures it from the stored conditions. */
export function aggregationMetrics(registry: Registry, apis: ServedApis): Disposable {
  const name = "aggregator_unavailable_apiservice";
  const collect = function* (): Generator<Sample> {
    for (const api of allApis(apis)) yield [{ name: nameOf(api) }, api.isAvailable ? 0 : 1];
  };
  new CollectedFamily(name, "1 for a group version that is not available.", "gauge", collect).register(registry);
  const turns = new BoundCounter(`${name}_total`, "Times that a group version became unavailable, by reason.");
  turns.register(registry);
  const turnOf = boundSeries((labels) => turns.labels(labels));
  let available = new Set<string>();
  const look = () => {
    const now = new Set<string>();
    for (const api of allApis(apis)) {
      if (api.isAvailable) now.add(nameOf(api));
      else if (available.has(nameOf(api))) turnOf({ name: nameOf(api), reason: reasonOf(api) }).value++;
    }
    available = now;
  };
  look();
  return apis.follow(look);
}

function nameOf({ apiService }: ServedApi): string {
  return apiService.metadata.name ?? "";
}

function reasonOf({ apiService }: ServedApi): string {
  return availableCondition(apiService)?.reason || "UnknownReason";
}
