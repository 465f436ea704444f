import type { Registry } from "prom-client";
import Gauge from "prom-client/lib/gauge.js";

export interface GateState {
  readonly name: string;
  readonly stage: "ALPHA" | "BETA" | "GA" | "DEPRECATED";
  readonly enabled: boolean;
}

/** Registers `kubernetes_feature_enabled`: the state of every feature gate, constant while the server runs. */
export function exposeFeatureGates(registry: Registry, gates: readonly GateState[]): void {
  const enabled = new Gauge({
    name: "kubernetes_feature_enabled",
    help: "Feature gates; 1 for enabled.",
    labelNames: ["name", "stage"],
    registers: [registry],
  });
  // A finished feature has no stage.
  for (const { name, stage, enabled: on } of gates)
    enabled.set({ name, stage: stage === "GA" ? "" : stage }, on ? 1 : 0);
}
