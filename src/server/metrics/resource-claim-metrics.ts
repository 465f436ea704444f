import type { Registry } from "prom-client";
import type {
  ClaimTraits,
  ResourceClaimsObserver,
} from "../../controllers/resource-claims/resource-claims-observer.ts";
import { BoundCounter, CollectedFamily } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import { labelText, type Sample } from "./exposition.ts";

/** Registers the metrics of claims for devices, under the names of kube-controller-manager. */
export function resourceClaimMetrics(registry: Registry): ResourceClaimsObserver {
  const creations = new BoundCounter(
    "resourceclaim_controller_creates_total",
    "Attempts to create a ResourceClaim, by result and by whether it has administrator access.",
  );
  creations.register(registry);
  const creationsOf = boundSeries((labels) => creations.labels(labels));
  let read: (() => Iterable<ClaimTraits>) | undefined;
  const help = "ResourceClaims, by whether they are allocated, have administrator access, and by their source.";
  const collect = () => countedBy(read?.() ?? []);
  new CollectedFamily("resourceclaim_controller_resource_claims", help, "gauge", collect).register(registry);
  return {
    creation: (status, adminAccess) => void creationsOf({ admin_access: adminAccess, status }).value++,
    observeClaims(next) {
      read = next;
      return {
        [Symbol.dispose]: () => {
          if (read === next) read = undefined;
        },
      };
    },
  };
}

function countedBy(claims: Iterable<ClaimTraits>): Iterable<Sample> {
  const samples = new Map<string, Sample>();
  for (const { allocated, adminAccess, source } of claims) {
    const labels = { admin_access: adminAccess, allocated, source };
    const key = labelText(labels);
    samples.set(key, [labels, (samples.get(key)?.[1] ?? 0) + 1]);
  }
  return samples.values();
}
