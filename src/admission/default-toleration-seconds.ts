import type { Pod, Toleration } from "../api/types/core-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite } from "./attributes.ts";

/** Default time for which a pod stays on a node that is not ready or unreachable. */
const tolerationSeconds = 300;
const taints = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Lets pods outlast a short failure of their node. */
export function defaultTolerationSeconds(): AdmissionPlugin {
  return {
    name: "DefaultTolerationSeconds",
    admit(attributes) {
      if (!isObjectWrite(attributes, { group: "", resource: "pods" })) return;
      const { spec } = attributes.object as Pod;
      if (spec === undefined) return;
      const { tolerations = [] } = spec;
      const added = taints
        .filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)))
        .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds }));
      if (added.length > 0) spec.tolerations = [...tolerations, ...added];
    },
  };
}

function tolerates({ key = "", effect = "" }: Toleration, taint: string): boolean {
  return (key === taint || key === "") && (effect === "NoExecute" || effect === "");
}
