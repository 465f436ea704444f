import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { NetworkPolicy } from "../../api/types/networking-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { networkPolicyWarnings, validateNetworkPolicy } from "./validation/network-policy.ts";

export const networkPolicy = builtInKind("networkpolicies.networking.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    metaRules: "update",
    coversSchema: true,
    generationFields: ["spec"],
    countsEmptyFields: true,
    validateInTurns: validateNetworkPolicy,
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

function networkPolicyCells({ spec }: NetworkPolicy): Cells {
  return { "Pod-Selector": selectorText(spec?.podSelector) };
}

/** A policy restricts incoming traffic, and outgoing traffic if it has rules for it. */
function defaultNetworkPolicy({ spec }: NetworkPolicy): void {
  if (spec === undefined || (spec.policyTypes ?? []).length > 0) return;
  spec.policyTypes = (spec.egress ?? []).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
}
