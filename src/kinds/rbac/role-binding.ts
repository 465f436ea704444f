import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { ClusterRoleBinding, RoleBinding, Subject } from "../../api/types/rbac-v1.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { roleStrategy } from "./role.ts";
import { validateRoleBinding, validateRoleBindingUpdate } from "./validation/role-binding.ts";

export const roleBinding = builtInKind("rolebindings.rbac.authorization.k8s.io", {
  endpoint: stored({ ...roleStrategy, validate: validateRoleBinding, validateUpdate: validateRoleBindingUpdate }),
  table: { cells: roleBindingCells },
  defaults: {
    "rbac/v1.RoleBinding": defaultRoleBinding,
    "rbac/v1.Subject": defaultSubject,
  },
  descriptions: {
    "rbac/v1.RoleBinding": {
      "": "Gives a role to users in one namespace.",
      subjects: "Users, groups and service accounts that get the role.",
      roleRef: "The role; cannot be changed.",
    },
  },
});

/** Returns the cells of a RoleBinding or a ClusterRoleBinding. */
export function roleBindingCells({ roleRef, subjects = [] }: RoleBinding | ClusterRoleBinding): Cells {
  const named = (kind: string, nameOf: (subject: Subject) => string) =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(nameOf)
      .join(", ");
  return {
    Role: `${roleRef.kind}/${roleRef.name}`,
    Users: named("User", ({ name }) => name),
    Groups: named("Group", ({ name }) => name),
    ServiceAccounts: named("ServiceAccount", ({ namespace = "", name }) => `${namespace}/${name}`),
  };
}

const rbacGroup = "rbac.authorization.k8s.io";

/** Completes a RoleBinding or a ClusterRoleBinding. */
export function defaultRoleBinding({ roleRef }: RoleBinding | ClusterRoleBinding): void {
  roleRef.apiGroup ||= rbacGroup;
}

/** Users and groups belong to RBAC's own group; service accounts are objects of the core group. */
export function defaultSubject(subject: Subject): void {
  if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ||= rbacGroup;
}
