import { builtInKind, stored } from "../../registry/kind.ts";
import { roleStrategy } from "./role.ts";
import { validateClusterRole } from "./validation/role.ts";

export const clusterRole = builtInKind("clusterroles.rbac.authorization.k8s.io", {
  endpoint: stored({ ...roleStrategy, validate: validateClusterRole }),
  descriptions: {
    "rbac/v1.ClusterRole": {
      "": "A set of permissions, for the cluster or for any namespace.",
      rules: "The permissions.",
      aggregationRule: "Takes the rules from other roles.",
    },
    "rbac/v1.AggregationRule": {
      "": "Selects the roles whose rules this role takes over.",
      clusterRoleSelectors: "Labels of the roles; one of the selectors has to match.",
    },
    "rbac/v1.PolicyRule": {
      "": "A permission.",
      verbs: "Allowed verbs; * for all.",
      apiGroups: "Groups of the resources; empty text for the core group.",
      resources: "Resources, as pods or pods/log.",
      resourceNames: "Names of objects, when not all are meant.",
      nonResourceURLs: "Paths, when no objects are meant. A * at the end stands for the rest.",
    },
  },
});
