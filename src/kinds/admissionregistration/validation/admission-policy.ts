import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { parseApiVersion } from "../../../api/gvk.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateNamedRule } from "./admission-rule.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { validateMatchConditions } from "./match-conditions.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { isPresent, objectsOf, textOf, textsOf, validateRequiredChoice } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const failurePolicies = ["Fail", "Ignore"];
const matchPolicies = ["Equivalent", "Exact"];
const reinvocationPolicies = ["Never", "IfNeeded"];
const mutableOperations = ["*", "CONNECT", "CREATE", "UPDATE"];
const patchTypes = ["ApplyConfiguration", "JSONPatch"];
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];
const auditAnnotationsMax = 20;
const valueExpressionBytesMax = 5 * 1024;
const celReserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** What expressions mean is for the CEL compiler; here they only have to be there. */
export function validateValidatingPolicy(policy: KubeObject): FieldError[] {
  const spec = fieldsOf(policy["spec"]);
  const annotations = objectsOf(spec["auditAnnotations"]);
  return [
    ...validateCommon(spec),
    ...validateValidations(objectsOf(spec["validations"]), annotations.length === 0),
    ...validateAuditAnnotations(annotations, policy.metadata.name ?? "", "spec.auditAnnotations"),
  ].slice(0, fieldErrorsMax);
}

/** What the controller has found out about the types of the expressions. */
export function validateValidatingPolicyStatus(policy: KubeObject): FieldError[] {
  const { typeChecking, conditions } = fieldsOf(policy["status"]);
  const field = "status.typeChecking.expressionWarnings";
  const warnings = validateEach(
    objectsOf(fieldsOf(typeChecking)["expressionWarnings"]),
    ({ warning, fieldRef }, at) => [
      ...(textOf(warning) === "" ? [fieldError.required(`${field}[${at}].warning`)] : []),
      ...(textOf(fieldRef).trim() === "" ? [fieldError.required(`${field}[${at}].fieldRef`)] : []),
    ],
  );
  return [...warnings.slice(0, fieldErrorsMax), ...validateConditions(conditions, "status.conditions")];
}

export function validateMutatingPolicy(policy: KubeObject): FieldError[] {
  const spec = fieldsOf(policy["spec"]);
  const mutations = objectsOf(spec["mutations"]);
  return [
    ...validateCommon(spec),
    ...validateMutableOperations(spec["matchConstraints"], "spec.matchConstraints"),
    ...(mutations.length === 0
      ? [fieldError.required("spec.mutations", "mutations must contain at least one item")]
      : []),
    ...validateEach(mutations, (mutation, at) => validateMutation(mutation, `spec.mutations[${at}]`)),
    ...validateRequiredChoice(spec["reinvocationPolicy"], reinvocationPolicies, "spec.reinvocationPolicy"),
  ].slice(0, fieldErrorsMax);
}

/** What both sorts of policies have: whom they are about, and what they compute first. */
function validateCommon(spec: JsonObject): FieldError[] {
  const { paramKind, matchConstraints } = spec;
  return [
    ...validateRequiredChoice(spec["failurePolicy"], failurePolicies, "spec.failurePolicy"),
    ...(isPresent(paramKind) ? validateParamKind(fieldsOf(paramKind), "spec.paramKind") : []),
    ...(isPresent(matchConstraints)
      ? [
          ...validateMatchResources(fieldsOf(matchConstraints), "spec.matchConstraints"),
          ...(objectsOf(fieldsOf(matchConstraints)["resourceRules"]).length === 0
            ? [fieldError.required("spec.matchConstraints.resourceRules")]
            : []),
        ]
      : [fieldError.required("spec.matchConstraints")]),
    ...validateMatchConditions(spec["matchConditions"], "spec.matchConditions"),
    ...validateEach(objectsOf(spec["variables"]), (variable, at) =>
      validateVariable(variable, `spec.variables[${at}]`),
    ),
  ];
}

export function validateMatchResources(resources: JsonObject, field: string): FieldError[] {
  return [
    ...validateRequiredChoice(resources["matchPolicy"], matchPolicies, `${field}.matchPolicy`),
    ...["namespaceSelector", "objectSelector"].flatMap((name) =>
      isPresent(resources[name])
        ? validateLabelSelector(resources[name], `${field}.${name}`)
        : [fieldError.required(`${field}.${name}`)],
    ),
    ...["resourceRules", "excludeResourceRules"].flatMap((name) =>
      validateEach(objectsOf(resources[name]), (rule, at) => validateNamedRule(rule, `${field}.${name}[${at}]`)),
    ),
  ];
}

/** An object that is deleted cannot be changed any more. */
export function validateMutableOperations(resources: JsonValue | undefined, field: string): FieldError[] {
  return objectsOf(fieldsOf(resources)["resourceRules"])
    .flatMap((rule) => textsOf(rule["operations"]))
    .filter((operation) => !mutableOperations.includes(operation))
    .map((operation) => fieldError.notSupported(`${field}.resourceRules.operations`, operation, mutableOperations));
}

function validateParamKind(kind: JsonObject, field: string): FieldError[] {
  const [apiVersion, name] = [textOf(kind["apiVersion"]), textOf(kind["kind"])];
  const problems = dnsLabel1035Problems(name.toLowerCase());
  return [
    ...(apiVersion === ""
      ? [fieldError.required(`${field}.apiVersion`)]
      : validateApiVersion(apiVersion, `${field}.apiVersion`)),
    ...(name === "" ? [fieldError.required(`${field}.kind`)] : []),
    ...(name !== "" && problems.length > 0
      ? [
          fieldError.invalid(
            `${field}.kind`,
            name,
            `may have mixed case, but should otherwise match: ${problems.join(",")}`,
          ),
        ]
      : []),
  ];
}

function validateApiVersion(text: string, field: string): FieldError[] {
  const parsed = parseApiVersion(text);
  if (parsed === undefined) return [fieldError.invalid(field, text, `unexpected GroupVersion string: ${text}`)];
  const { group, version } = parsed;
  const groupProblems = group === "" ? [] : dnsSubdomainProblems(group);
  const errors = groupProblems.length > 0 ? [fieldError.invalid(field, group, groupProblems.join(","))] : [];
  if (version === "") return [...errors, fieldError.invalid(field, text, "version must be specified")];
  const problems = dnsLabel1035Problems(version);
  return problems.length > 0 ? [...errors, fieldError.invalid(field, version, problems.join(","))] : errors;
}

function validateVariable(variable: JsonObject, field: string): FieldError[] {
  const name = textOf(variable["name"]);
  const errors: FieldError[] = [];
  if (name.trim() === "") errors.push(fieldError.required(`${field}.name`, "name is not specified"));
  else if (!isCelIdentifier(name)) {
    errors.push(fieldError.invalid(`${field}.name`, name, "name is not a valid CEL identifier"));
  }
  return [...errors, ...requireExpression(variable["expression"], `${field}.expression`)];
}

function isCelIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !celReserved.has(name);
}

function requireExpression(value: JsonValue | undefined, field: string, what = "expression"): FieldError[] {
  return textOf(value).trim() === "" ? [fieldError.required(field, `${what} is not specified`)] : [];
}

function validateValidations(validations: readonly JsonObject[], isOnlyPart: boolean): FieldError[] {
  if (validations.length === 0 && isOnlyPart) {
    const text = "validations or auditAnnotations must contain at least one item";
    return [fieldError.required("spec.validations", text), fieldError.required("spec.auditAnnotations", text)];
  }
  return validateEach(validations, (validation, at) => validateValidation(validation, `spec.validations[${at}]`));
}

function validateValidation(validation: JsonObject, field: string): FieldError[] {
  const { reason } = validation;
  const message = textOf(validation["message"]);
  const messageExpression = textOf(validation["messageExpression"]);
  const errors = requireExpression(validation["expression"], `${field}.expression`);
  if (messageExpression !== "" && messageExpression.trim() === "") {
    const text = "must be non-empty if specified";
    errors.push(fieldError.invalid(`${field}.messageExpression`, messageExpression, text));
  }
  if (message !== "" && message.trim() === "") {
    errors.push(fieldError.invalid(`${field}.message`, message, "message must be non-empty if specified"));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(fieldError.invalid(`${field}.message`, message, "message must not contain line breaks"));
  }
  if (isPresent(reason) && !reasons.includes(textOf(reason))) {
    errors.push(fieldError.notSupported(`${field}.reason`, reason, reasons));
  }
  return errors;
}

/** The key is completed by the name of the policy. */
function validateAuditAnnotations(annotations: readonly JsonObject[], policy: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (annotations.length > auditAnnotationsMax) {
    const text = `must not have more than ${auditAnnotationsMax} auditAnnotations`;
    errors.push(fieldError.invalid(field, [...annotations], text));
  }
  const seen = new Set<string>();
  for (const [at, annotation] of annotations.entries()) {
    const key = textOf(annotation["key"]);
    const full = `${policy}/${key}`;
    const problems = policy === "" ? ["requires metadata.name be non-empty"] : labelKeyErrors(full);
    const value = policy === "" ? key : full;
    errors.push(...problems.map((problem) => fieldError.invalid(`${field}[${at}].key`, value, problem)));
    errors.push(...validateValueExpression(annotation["valueExpression"], `${field}[${at}].valueExpression`));
    if (seen.has(key)) errors.push(fieldError.duplicate(`${field}[${at}].key`, key));
    seen.add(key);
  }
  return errors;
}

function validateValueExpression(value: JsonValue | undefined, field: string): FieldError[] {
  if (Buffer.byteLength(textOf(value).trim()) > valueExpressionBytesMax) {
    return [fieldError.required(field, `must not exceed ${valueExpressionBytesMax} bytes in length`)];
  }
  return requireExpression(value, field, "valueExpression");
}

/** The block that belongs to the type of the patch, and not the other. */
function validateMutation(mutation: JsonObject, field: string): FieldError[] {
  const type = textOf(mutation["patchType"]);
  const errors = validateRequiredChoice(type, patchTypes, `${field}.patchType`);
  if (errors.length > 0) return errors;
  const [own, other] = type === "JSONPatch" ? ["jsonPatch", "applyConfiguration"] : ["applyConfiguration", "jsonPatch"];
  if (isPresent(mutation[other])) {
    const text = `must not be specified when patchType is ${type}`;
    errors.push(fieldError.invalid(`${field}.${other}`, `{${other}}`, text));
  }
  if (!isPresent(mutation[own])) {
    return [...errors, fieldError.required(`${field}.${own}`, `must be specified when patchType is ${type}`)];
  }
  const { expression } = fieldsOf(mutation[own]);
  return textOf(expression).trim() === "" ? [...errors, fieldError.required(`${field}.${own}.expression`)] : errors;
}
