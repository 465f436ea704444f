import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type * as rbacV1 from "../../../api/types/rbac-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const rbacGroup = "rbac.authorization.k8s.io";

/** A binding in a namespace or in the cluster. */
type Binding = rbacV1.RoleBinding | rbacV1.ClusterRoleBinding;

export function validateRoleBinding(binding: rbacV1.RoleBinding): FieldError[] {
  return validateBinding(binding, { roleKinds: ["Role", "ClusterRole"], namespaced: true });
}

export function validateClusterRoleBinding(binding: rbacV1.ClusterRoleBinding): FieldError[] {
  return validateBinding(binding, { roleKinds: ["ClusterRole"], namespaced: false });
}

/** Users who may edit the subjects of a binding must not be able to give them another role. */
export function validateRoleBindingUpdate({ roleRef }: Binding, old: Binding): FieldError[] {
  if (equalJson(roleRef, old.roleRef)) return [];
  return [fieldError.invalid("roleRef", internalForm(roleRef, "rbac/v1.RoleRef"), "cannot change roleRef")];
}

interface BindingRules {
  readonly roleKinds: readonly string[];
  readonly namespaced: boolean;
}

function validateBinding({ roleRef, subjects = [] }: Binding, { roleKinds, namespaced }: BindingRules): FieldError[] {
  const { apiGroup, kind, name } = roleRef;
  return [
    ...validateExact(apiGroup, [rbacGroup], "roleRef.apiGroup"),
    ...validateExact(kind, roleKinds, "roleRef.kind"),
    ...(name === "" ? [fieldError.required("roleRef.name")] : []),
    ...validateText(name, pathSegmentProblems, "roleRef.name"),
    ...validateEach(subjects, (subject, at) => validateSubject(subject, namespaced, `subjects[${at}]`)),
  ];
}

function validateSubject(subject: rbacV1.Subject, namespaced: boolean, field: string): FieldError[] {
  const { kind, apiGroup = "", name, namespace = "" } = subject;
  const errors = name === "" ? [fieldError.required(`${field}.name`)] : [];
  switch (kind) {
    case "ServiceAccount":
      errors.push(...validateText(name, dnsSubdomainProblems, `${field}.name`));
      errors.push(...validateExact(apiGroup, [""], `${field}.apiGroup`));
      if (!namespaced && namespace === "") errors.push(fieldError.required(`${field}.namespace`));
      return errors;
    case "User":
    case "Group":
      return [...errors, ...validateExact(apiGroup, [rbacGroup], `${field}.apiGroup`)];
    default:
      return [...errors, fieldError.notSupportedText(`${field}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}

function validateExact(value: string, choices: readonly string[], field: string): FieldError[] {
  return choices.includes(value) ? [] : [fieldError.notSupportedText(field, value, choices)];
}
