import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { objectsOf, textOf, validateText } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const rbacGroup = "rbac.authorization.k8s.io";

export function validateRoleBinding(binding: KubeObject): FieldError[] {
  return validateBinding(binding, { roleKinds: ["Role", "ClusterRole"], namespaced: true });
}

export function validateClusterRoleBinding(binding: KubeObject): FieldError[] {
  return validateBinding(binding, { roleKinds: ["ClusterRole"], namespaced: false });
}

/** Of both kinds: who may edit the subjects of a binding must not be able to give them another role. */
export function validateRoleBindingUpdate(binding: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(binding["roleRef"]), fieldsOf(old["roleRef"])];
  return equalJson(fresh, stored) ? [] : [fieldError.invalid("roleRef", fresh, "cannot change roleRef")];
}

interface BindingRules {
  readonly roleKinds: readonly string[];
  readonly namespaced: boolean;
}

function validateBinding(binding: KubeObject, { roleKinds, namespaced }: BindingRules): FieldError[] {
  const { apiGroup, kind, name } = fieldsOf(binding["roleRef"]);
  return [
    ...validateExact(apiGroup, [rbacGroup], "roleRef.apiGroup"),
    ...validateExact(kind, roleKinds, "roleRef.kind"),
    ...(textOf(name) === "" ? [fieldError.required("roleRef.name")] : []),
    ...validateText(name, pathSegmentProblems, "roleRef.name"),
    ...validateEach(objectsOf(binding["subjects"] as JsonValue | undefined), (subject, at) =>
      validateSubject(subject, namespaced, `subjects[${at}]`),
    ),
  ];
}

function validateSubject(subject: JsonObject, namespaced: boolean, field: string): FieldError[] {
  const { kind, apiGroup, name, namespace } = subject;
  const errors = textOf(name) === "" ? [fieldError.required(`${field}.name`)] : [];
  switch (kind) {
    case "ServiceAccount":
      errors.push(...validateText(name, dnsSubdomainProblems, `${field}.name`));
      errors.push(...validateExact(apiGroup, [""], `${field}.apiGroup`));
      if (!namespaced && textOf(namespace) === "") errors.push(fieldError.required(`${field}.namespace`));
      return errors;
    case "User":
    case "Group":
      if (textOf(name) === "") {
        errors.push(fieldError.invalid(`${field}.name`, "", `${kind.toLowerCase()} name cannot be empty`));
      }
      return [...errors, ...validateExact(apiGroup, [rbacGroup], `${field}.apiGroup`)];
    default:
      errors.push(fieldError.notSupported(`${field}.kind`, textOf(kind), ["ServiceAccount", "User", "Group"]));
      return errors;
  }
}

function validateExact(value: JsonValue | undefined, choices: readonly string[], field: string): FieldError[] {
  return choices.includes(textOf(value)) ? [] : [fieldError.notSupported(field, textOf(value), choices)];
}
