import { builtInKind, stored } from "../../registry/kind.ts";
import { roleStrategy } from "./role.ts";
import { defaultRoleBinding, roleBindingCells } from "./role-binding.ts";
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
  descriptions: {
    "rbac/v1.ClusterRoleBinding": {
      "": "Gives a role to users in the whole cluster.",
      subjects: "Users, groups and service accounts that get the role.",
      roleRef: "The role; cannot be changed.",
    },
    "rbac/v1.RoleRef": {
      "": "Points at a role.",
      apiGroup: "Group of the role.",
      kind: "Role or ClusterRole.",
      name: "Name of the role.",
    },
    "rbac/v1.Subject": {
      "": "Somebody who gets a role.",
      kind: "User, Group or ServiceAccount.",
      apiGroup: "Group of the kind; empty for a ServiceAccount.",
      name: "Name of the subject.",
      namespace: "Namespace of a ServiceAccount.",
    },
  },
});
