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
});

function networkPolicyCells(policy: JsonObject): Cells {
  return { "Pod-Selector": selectorText(objectOf(policy["spec"])["podSelector"]) };
}
