import { isJsonObject, type JsonObject } from "../../../api/json.ts";

const rbacGroup = "rbac.authorization.k8s.io";

/** Applies to RoleBindings and ClusterRoleBindings. */
export function defaultRoleBinding(binding: JsonObject): void {
  const role = binding["roleRef"];
  if (isJsonObject(role)) role["apiGroup"] ||= rbacGroup;
}

/** Users and groups are RBAC's own notions; service accounts are objects of the core group. */
export function defaultSubject(subject: JsonObject): void {
  if (subject["kind"] === "User" || subject["kind"] === "Group") subject["apiGroup"] ||= rbacGroup;
}
