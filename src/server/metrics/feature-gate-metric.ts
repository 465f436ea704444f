import type { Registry } from "prom-client";
import Gauge from "prom-client/lib/gauge.js";

export interface GateState {
  readonly name: string;
  readonly stage: "ALPHA" | "BETA" | "GA" | "DEPRECATED";
  readonly enabled: boolean;
}

/** `kubernetes_feature_enabled`: every feature gate with its state. They do not change while the server runs. */
export function exposeFeatureGates(registry: Registry, gates: readonly GateState[]): void {
  const enabled = new Gauge({
    name: "kubernetes_feature_enabled",
    help: "Feature gates: 1 when on.",
    labelNames: ["name", "stage"],
    registers: [registry],
  });
  // A finished feature has no stage.
  for (const { name, stage, enabled: on } of gates)
    enabled.set({ name, stage: stage === "GA" ? "" : stage }, on ? 1 : 0);
}
