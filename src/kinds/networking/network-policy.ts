import { objectOf } from "../../api/json-reading.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { defaultNetworkPolicy } from "./defaults/network-policy.ts";
import { networkPolicyWarnings, validateNetworkPolicy } from "./validation/network-policy.ts";

export const networkPolicy = builtInKind("networkpolicies.networking.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    metaRules: "update",
    coversSchema: true,
    generationFields: ["spec"],
    validate: validateNetworkPolicy,
    warnings: networkPolicyWarnings,
  }),
  table: { cells: networkPolicyCells },
  defaults: {
    "networking/v1.NetworkPolicy": defaultNetworkPolicy,
  },
  descriptions: {
    "networking/v1.NetworkPolicy": { "": "Allowed traffic of a set of pods." },
    "networking/v1.NetworkPolicySpec": {
      "": "Pods and traffic.",
      podSelector: "The pods that the policy is for; empty for all of the namespace.",
      ingress: "Traffic that may come in.",
      egress: "Traffic that may go out.",
      policyTypes: "Directions that the policy restricts: Ingress, Egress.",
    },
  },
});

function networkPolicyCells(policy: JsonObject): Cells {
  return { "Pod-Selector": selectorText(objectOf(policy["spec"])["podSelector"]) };
}
