import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { NamedRuleWithOperations, RuleWithOperations } from "../../../api/types/admissionregistration-v1.ts";
import { pathSegmentProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const scopes = ["*", "Cluster", "Namespaced"];
const all = "*";

/** Checks a rule that selects the requests of a webhook or policy. */
export function validateAdmissionRule(
  { operations: asked = [], apiGroups = [], apiVersions = [], resources = [], scope }: RuleWithOperations,
  field: string,
): FieldError[] {
  return [
    ...validateList(asked, "operations", `${field}.operations`),
    ...validateEach(asked, (operation, at) =>
      operations.includes(operation)
        ? []
        : [fieldError.notSupported(`${field}.operations[${at}]`, operation, operations)],
    ),
    ...validateList(apiGroups, "API groups", `${field}.apiGroups`),
    ...validateList(apiVersions, "API versions", `${field}.apiVersions`),
    ...validateEach(apiVersions, (version, at) =>
      version === "" ? [fieldError.required(`${field}.apiVersions[${at}]`)] : [],
    ),
    ...validateResources(resources, `${field}.resources`),
    ...(scope === undefined || scopes.includes(scope)
      ? []
      : [fieldError.notSupported(`${field}.scope`, scope, scopes)]),
  ];
}

/** Checks a rule that can be narrowed to names. */
export function validateNamedRule(rule: NamedRuleWithOperations, field: string): FieldError[] {
  const seen = new Set<string>();
  const names = validateEach(rule.resourceNames ?? [], (name, at) => {
    const path = `${field}.resourceNames[${at}]`;
    const errors = pathSegmentProblems(name).map((problem) => fieldError.invalid(path, name, problem));
    if (seen.has(name)) errors.push(fieldError.duplicate(path, name));
    seen.add(name);
    return errors;
  });
  return [...names, ...validateAdmissionRule(rule, field)];
}

function validateList(values: readonly string[], what: string, field: string): FieldError[] {
  if (values.length === 0) return [fieldError.required(field)];
  if (values.length === 1 || !values.includes(all)) return [];
  return [fieldError.invalid(field, [...values], `if '*' is present, must not specify other ${what}`)];
}

/**
 * Checks names such as `pods` and `pods/status`, and patterns. A pattern cannot be combined with a name that it covers.
 */
function validateResources(resources: readonly string[], field: string): FieldError[] {
  const errors = resources.length === 0 ? [fieldError.required(field)] : [];
  const ofResource = new Set<string>();
  const ofSubresource = new Set<string>();
  let endsWithResource = false;
  for (const [at, text] of resources.entries()) {
    if (text === "") {
      errors.push(fieldError.required(`${field}[${at}]`));
      continue;
    }
    const slash = text.indexOf("/");
    if (slash < 0) {
      endsWithResource = text !== all;
      continue;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    const refuse = (pattern: string) =>
      errors.push(fieldError.invalid(`${field}[${at}]`, text, `if '${pattern}' is present, must not specify ${text}`));
    if (ofResource.has(resource)) refuse(`${resource}/*`);
    if (ofSubresource.has(subresource)) refuse(`*/${subresource}`);
    if (subresource === all) ofResource.add(resource);
    if (resource === all) ofSubresource.add(subresource);
  }
  const refuseAll = (text: string) => errors.push(fieldError.invalid(field, [...resources], text));
  if (resources.length > 1 && resources.includes("*/*")) {
    refuseAll("if '*/*' is present, must not specify other resources");
  }
  // Upstream looks only at the last name without a subresource.
  if (resources.includes(all) && endsWithResource) {
    refuseAll("if '*' is present, must not specify other resources without subresources");
  }
  return errors;
}
