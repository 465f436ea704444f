import { builtInKind, stored } from "../../registry/kind.ts";
import { defaultRoleBinding } from "./defaults/role-binding.ts";
import { roleBindingCells } from "./role-binding.ts";
import { roleStrategy } from "./role.ts";
import { validateClusterRoleBinding, validateRoleBindingUpdate } from "./validation/role-binding.ts";

export const clusterRoleBinding = builtInKind("clusterrolebindings.rbac.authorization.k8s.io", {
  endpoint: stored({
    ...roleStrategy,
    validate: validateClusterRoleBinding,
    validateUpdate: validateRoleBindingUpdate,
  }),
  table: { cells: roleBindingCells },
  defaults: {
    "rbac/v1.ClusterRoleBinding": defaultRoleBinding,
  },
});
