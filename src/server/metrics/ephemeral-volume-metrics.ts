import type { Registry } from "prom-client";
import type { EphemeralVolumesObserver } from "../../controllers/ephemeral-volumes.ts";
import { BoundCounter } from "./bound-metric.ts";

/** Registers the metrics of claims of ephemeral volumes. Returns the observer that counts them. */
export function ephemeralVolumeMetrics(registry: Registry): EphemeralVolumesObserver {
  const counter = (name: string, help: string) => {
    const family = new BoundCounter(`ephemeral_volume_controller_${name}`, help);
    family.register(registry);
    return family.labels({});
  };
  const creations = counter("create_total", "Attempts to create the claim of an ephemeral volume.");
  const failures = counter("create_failures_total", "Claims of ephemeral volumes that could not be created.");
  return {
    creating: () => void creations.value++,
    failed: () => void failures.value++,
  };
}
