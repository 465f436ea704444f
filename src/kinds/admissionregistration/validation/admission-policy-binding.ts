import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateMatchResources, validateMutableOperations } from "./admission-policy.ts";
import { isPresent, objectOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const actions = ["Audit", "Deny", "Warn"];
const notFoundActions = ["Deny", "Allow"];

export function validateMutatingBinding(binding: KubeObject): FieldError[] {
  const { matchResources } = objectOf(binding["spec"]);
  return [...validateCommon(binding), ...validateMutableOperations(matchResources, "spec.matchResources")];
}

/** What both sorts of bindings have: a policy, its parameters, and whom it is about. */
function validateCommon(binding: KubeObject): FieldError[] {
  const { policyName, paramRef, matchResources } = objectOf(binding["spec"]);
  return [
    ...(textOf(policyName) === "" ? [fieldError.required("spec.policyName")] : []),
    ...validateText(policyName, dnsSubdomainProblems, "spec.policyName"),
    ...(isPresent(paramRef) ? validateParamRef(objectOf(paramRef), "spec.paramRef") : []),
    ...(isPresent(matchResources) ? validateMatchResources(objectOf(matchResources), "spec.matchResources") : []),
  ];
}

export function validateValidatingBinding(binding: KubeObject): FieldError[] {
  const { validationActions } = objectOf(binding["spec"]);
  return [...validateCommon(binding), ...validateActions(textsOf(validationActions), "spec.validationActions")];
}

function validateActions(given: readonly string[], field: string): FieldError[] {
  const seen = new Set<string>();
  const errors = validateEach(given, (action, at) => {
    const unknown = actions.includes(action) ? [] : [fieldError.notSupported(`${field}[${at}]`, action, actions)];
    if (seen.has(action)) unknown.push(fieldError.duplicate(`${field}[${at}]`, action));
    seen.add(action);
    return unknown;
  });
  if (seen.has("Deny") && seen.has("Warn")) {
    const text =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(fieldError.invalid(field, [...given], text));
  }
  return seen.size === 0
    ? [...errors, fieldError.required(field, "at least one validation action is required")]
    : errors;
}

function validateParamRef(ref: JsonObject, field: string): FieldError[] {
  const { name, selector, parameterNotFoundAction: action } = ref;
  const both = "name and selector are mutually exclusive";
  const hasName = textOf(name) !== "";
  const errors = validateText(name, pathSegmentProblems, `${field}.name`);
  if (hasName && isPresent(selector)) errors.push(fieldError.forbidden(`${field}.name`, both));
  errors.push(...validateLabelSelector(selector, `${field}.selector`));
  if (hasName && isPresent(selector)) errors.push(fieldError.forbidden(`${field}.selector`, both));
  if (!hasName && !isPresent(selector)) {
    errors.push(fieldError.required(field, "one of name or selector must be specified"));
  }
  if (textOf(action) === "") return [...errors, fieldError.required(`${field}.parameterNotFoundAction`)];
  return notFoundActions.includes(textOf(action))
    ? errors
    : [...errors, fieldError.notSupported(`${field}.parameterNotFoundAction`, action, notFoundActions)];
}
