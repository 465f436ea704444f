import type { Node } from "../api/types/core-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite } from "./attributes.ts";

const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** Taints a new node, so that it gets no pods until it is known to be ready. */
export function taintNodesByCondition(): AdmissionPlugin {
  return {
    name: "TaintNodesByCondition",
    admit(attributes) {
      const { operation, object } = attributes;
      if (operation !== "CREATE" || !isObjectWrite(attributes, { group: "", resource: "nodes" })) return;
      if (object === undefined) return;
      const node = object as Node;
      const { taints = [] } = node.spec ?? {};
      if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return;
      node.spec = { ...node.spec, taints: [...taints, { ...notReady }] };
    },
  };
}
