import { objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { defaultRoleBinding, defaultSubject } from "./defaults/role-binding.ts";
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
export function roleBindingCells(binding: JsonObject): Cells {
  const role = objectOf(binding["roleRef"]);
  const subjects = objectsOf(binding["subjects"]);
  const named = (kind: string, nameOf: (subject: JsonObject) => string) =>
    subjects
      .filter((subject) => textOf(subject["kind"]) === kind)
      .map(nameOf)
      .join(", ");
  return {
    Role: `${textOf(role["kind"])}/${textOf(role["name"])}`,
    Users: named("User", (subject) => textOf(subject["name"])),
    Groups: named("Group", (subject) => textOf(subject["name"])),
    ServiceAccounts: named("ServiceAccount", (subject) => `${textOf(subject["namespace"])}/${textOf(subject["name"])}`),
  };
}
