import { builtInKind, stored } from "../../registry/kind.ts";
import { validateClusterRoleBinding } from "./validation/role-binding.ts";
import { roleBindingStrategy, roleBindingCells } from "./role-binding.ts";
import { defaultRoleBinding } from "./defaults/role-binding.ts";

export const clusterRoleBinding = builtInKind("clusterrolebindings.rbac.authorization.k8s.io", {
  endpoint: stored({ ...roleBindingStrategy, validate: validateClusterRoleBinding }),
  table: { cells: roleBindingCells },
  defaults: {
    "rbac/v1.ClusterRoleBinding": defaultRoleBinding,
  },
});
