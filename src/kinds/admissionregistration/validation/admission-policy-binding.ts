import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  MutatingAdmissionPolicyBinding,
  ParamRef,
  ValidatingAdmissionPolicyBinding,
} from "../../../api/types/admissionregistration-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateMatchResources, validateMutableOperations } from "./admission-policy.ts";

const actions = ["Audit", "Deny", "Warn"];
const notFoundActions = ["Deny", "Allow"];

export function validateMutatingBinding({ spec = {} }: MutatingAdmissionPolicyBinding): FieldError[] {
  return [...validateCommon(spec), ...validateMutableOperations(spec.matchResources, "spec.matchResources")];
}

type BindingSpec = NonNullable<MutatingAdmissionPolicyBinding["spec"]>;

/** Checks the fields that both kinds of bindings have: the policy, its parameters and its resources. */
function validateCommon({ policyName = "", paramRef, matchResources }: BindingSpec): FieldError[] {
  return [
    ...(policyName === "" ? [fieldError.required("spec.policyName")] : []),
    ...validateText(policyName, dnsSubdomainProblems, "spec.policyName"),
    ...(paramRef === undefined ? [] : validateParamRef(paramRef, "spec.paramRef")),
    ...(matchResources === undefined ? [] : validateMatchResources(matchResources, "spec.matchResources")),
  ];
}

export function validateValidatingBinding({ spec = {} }: ValidatingAdmissionPolicyBinding): FieldError[] {
  return [...validateCommon(spec), ...validateActions(spec.validationActions ?? [], "spec.validationActions")];
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

function validateParamRef(
  { name = "", selector, parameterNotFoundAction: action = "" }: ParamRef,
  field: string,
): FieldError[] {
  const both = "name and selector are mutually exclusive";
  const hasName = name !== "";
  const hasSelector = selector !== undefined;
  const errors = validateText(name, pathSegmentProblems, `${field}.name`);
  if (hasName && hasSelector) errors.push(fieldError.forbidden(`${field}.name`, both));
  errors.push(...validateLabelSelector(selector, `${field}.selector`));
  if (hasName && hasSelector) errors.push(fieldError.forbidden(`${field}.selector`, both));
  if (!hasName && !hasSelector) {
    errors.push(fieldError.required(field, "one of name or selector must be specified"));
  }
  if (action === "") return [...errors, fieldError.required(`${field}.parameterNotFoundAction`)];
  return notFoundActions.includes(action)
    ? errors
    : [...errors, fieldError.notSupported(`${field}.parameterNotFoundAction`, action, notFoundActions)];
}
