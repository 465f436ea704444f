import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { pathSegmentProblems } from "../../../api/validation/names.ts";
import { isPresent, textOf, textsOf } from "../../../api/json-reading.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const scopes = ["*", "Cluster", "Namespaced"];
const all = "*";

/** Which requests a webhook or policy is asked about. */
export function validateAdmissionRule(rule: JsonObject, field: string): FieldError[] {
  const { scope } = rule;
  const list = (name: string) => textsOf(rule[name]);
  return [
    ...validateList(list("operations"), "operations", `${field}.operations`),
    ...validateEach(list("operations"), (operation, at) =>
      operations.includes(operation)
        ? []
        : [fieldError.notSupported(`${field}.operations[${at}]`, operation, operations)],
    ),
    ...validateList(list("apiGroups"), "API groups", `${field}.apiGroups`),
    ...validateList(list("apiVersions"), "API versions", `${field}.apiVersions`),
    ...validateEach(list("apiVersions"), (version, at) =>
      version === "" ? [fieldError.required(`${field}.apiVersions[${at}]`)] : [],
    ),
    ...validateResources(list("resources"), `${field}.resources`),
    ...(isPresent(scope) && !scopes.includes(textOf(scope))
      ? [fieldError.notSupported(`${field}.scope`, scope, scopes)]
      : []),
  ];
}

/** A rule that can be narrowed to names. */
export function validateNamedRule(rule: JsonObject, field: string): FieldError[] {
  const seen = new Set<string>();
  const names = validateEach(textsOf(rule["resourceNames"]), (name, at) => {
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

/** `pods`, `pods/status`, and patterns of both; no pattern beside what it covers already. */
function validateResources(resources: readonly string[], field: string): FieldError[] {
  const errors = resources.length === 0 ? [fieldError.required(field)] : [];
  const ofResource = new Set<string>();
  const ofSubresource = new Set<string>();
  for (const [at, text] of resources.entries()) {
    if (text === "") errors.push(fieldError.required(`${field}[${at}]`));
    const slash = text.indexOf("/");
    if (slash < 0) continue;
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
  if (resources.includes(all) && resources.some((text) => text !== "" && text !== all && !text.includes("/"))) {
    refuseAll("if '*' is present, must not specify other resources without subresources");
  }
  return errors;
}
