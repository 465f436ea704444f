import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { parseApiVersion } from "../../../api/gvk.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateNamedRule } from "./admission-rule.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { isPresent, objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { validateMatchConditions } from "./match-conditions.ts";
import { PolicyExpressions } from "./policy-expressions.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const failurePolicies = ["Fail", "Ignore"];
const matchPolicies = ["Equivalent", "Exact"];
const reinvocationPolicies = ["IfNeeded", "Never"];
const mutableOperations = ["*", "CONNECT", "CREATE", "UPDATE"];
const patchTypes = ["ApplyConfiguration", "JSONPatch"];
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const auditAnnotationsMax = 20;
const valueExpressionBytesMax = 5 * 1024;
const celReserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** Checks the fields and compiles the expressions; those that `old` has may use what is new in this release. */
export function validateValidatingPolicy(policy: KubeObject, old?: KubeObject): FieldError[] {
  const spec = objectOf(policy["spec"]);
  const stored = objectOf(old?.["spec"]);
  const annotations = objectsOf(spec["auditAnnotations"]);
  const validations = objectsOf(stored["validations"]);
  const expressions = new PolicyExpressions({
    hasParams: isPresent(spec["paramKind"]),
    composes: objectsOf(spec["variables"]).length > 0,
    stored: new Set([
      ...textsAt(validations, "expression"),
      ...textsAt(validations, "messageExpression"),
      ...textsAt(objectsOf(stored["auditAnnotations"]), "valueExpression"),
    ]),
  });
  return [
    ...validateCommon(spec, stored, expressions),
    ...validateValidations(objectsOf(spec["validations"]), annotations.length === 0, expressions),
    ...validateAuditAnnotations(annotations, policy.metadata.name ?? "", "spec.auditAnnotations", expressions),
  ].slice(0, fieldErrorsMax);
}

function textsAt(parts: readonly JsonObject[], name: string): string[] {
  return parts.map((part) => textOf(part[name])).filter((text) => text !== "");
}

/** What the controller has found out about the types of the expressions. */
export function validateValidatingPolicyStatus(policy: KubeObject): FieldError[] {
  const { typeChecking, conditions } = objectOf(policy["status"]);
  const field = "status.typeChecking.expressionWarnings";
  const warnings = validateEach(
    objectsOf(objectOf(typeChecking)["expressionWarnings"]),
    ({ warning, fieldRef }, at) => [
      ...(textOf(warning) === "" ? [fieldError.required(`${field}[${at}].warning`)] : []),
      ...(textOf(fieldRef).trim() === "" ? [fieldError.required(`${field}[${at}].fieldRef`)] : []),
    ],
  );
  return [...warnings.slice(0, fieldErrorsMax), ...validateConditions(conditions, "status.conditions")];
}

/** The same for a policy that changes objects. */
export function validateMutatingPolicy(policy: KubeObject, old?: KubeObject): FieldError[] {
  const spec = objectOf(policy["spec"]);
  const stored = objectOf(old?.["spec"]);
  const mutations = objectsOf(spec["mutations"]);
  const configurations = objectsOf(stored["mutations"]).map((mutation) => objectOf(mutation["applyConfiguration"]));
  const expressions = new PolicyExpressions({
    hasParams: isPresent(spec["paramKind"]),
    composes: true,
    stored: new Set(textsAt(configurations, "expression")),
  });
  return [
    ...validateConstraints(spec),
    ...validateMutableOperations(spec["matchConstraints"], "spec.matchConstraints"),
    ...validateComposition(spec, stored, expressions),
    ...(mutations.length === 0
      ? [fieldError.required("spec.mutations", "mutations must contain at least one item")]
      : []),
    ...validateEach(mutations, (mutation, at) => validateMutation(mutation, `spec.mutations[${at}]`, expressions)),
    ...validateRequiredChoice(spec["reinvocationPolicy"], reinvocationPolicies, "spec.reinvocationPolicy"),
  ].slice(0, fieldErrorsMax);
}

function validateCommon(spec: JsonObject, stored: JsonObject, expressions: PolicyExpressions): FieldError[] {
  return [...validateConstraints(spec), ...validateComposition(spec, stored, expressions)];
}

/** Checks which requests a policy is for. */
function validateConstraints(spec: JsonObject): FieldError[] {
  const { paramKind, matchConstraints } = spec;
  return [
    ...validateRequiredChoice(spec["failurePolicy"], failurePolicies, "spec.failurePolicy"),
    ...(isPresent(paramKind) ? validateParamKind(objectOf(paramKind), "spec.paramKind") : []),
    ...(isPresent(matchConstraints)
      ? [
          ...validateMatchResources(objectOf(matchConstraints), "spec.matchConstraints"),
          ...(objectsOf(objectOf(matchConstraints)["resourceRules"]).length === 0
            ? [fieldError.required("spec.matchConstraints.resourceRules")]
            : []),
        ]
      : [fieldError.required("spec.matchConstraints")]),
  ];
}

/** Checks the conditions and the variables, which later expressions use. */
function validateComposition(spec: JsonObject, stored: JsonObject, expressions: PolicyExpressions): FieldError[] {
  const { paramKind, matchConditions, variables } = spec;
  const isUnchanged =
    equalJson(matchConditions ?? null, stored["matchConditions"] ?? null) &&
    equalJson(paramKind ?? null, stored["paramKind"] ?? null);
  const options = { hasParams: isPresent(paramKind), stored: stored["matchConditions"] };
  return [
    ...(isUnchanged ? [] : validateMatchConditions(matchConditions, "spec.matchConditions", options)),
    ...validateEach(objectsOf(variables), (variable, at) =>
      validateVariable(variable, `spec.variables[${at}]`, expressions),
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
  return objectsOf(objectOf(resources)["resourceRules"])
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

function validateVariable(variable: JsonObject, field: string, expressions: PolicyExpressions): FieldError[] {
  const name = textOf(variable["name"]);
  const text = textOf(variable["expression"]);
  const errors: FieldError[] = [];
  if (name.trim() === "") errors.push(fieldError.required(`${field}.name`, "name is not specified"));
  else if (!isCelIdentifier(name)) {
    errors.push(fieldError.invalid(`${field}.name`, name, "must be a valid CEL identifier"));
  }
  if (text.trim() === "") return [...errors, ...requireExpression(text, `${field}.expression`)];
  return [...errors, ...expressions.addVariable(name, text, `${field}.expression`)];
}

function isCelIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !celReserved.has(name);
}

function requireExpression(value: JsonValue | undefined, field: string, what = "expression"): FieldError[] {
  return textOf(value).trim() === "" ? [fieldError.required(field, `${what} is not specified`)] : [];
}

function validateValidations(
  validations: readonly JsonObject[],
  isOnlyPart: boolean,
  expressions: PolicyExpressions,
): FieldError[] {
  if (validations.length === 0 && isOnlyPart) {
    const text = "validations or auditAnnotations must contain at least one item";
    return [fieldError.required("spec.validations", text), fieldError.required("spec.auditAnnotations", text)];
  }
  return validateEach(validations, (validation, at) =>
    validateValidation(validation, `spec.validations[${at}]`, expressions),
  );
}

function validateValidation(validation: JsonObject, field: string, expressions: PolicyExpressions): FieldError[] {
  const { reason } = validation;
  const message = textOf(validation["message"]);
  const messageExpression = textOf(validation["messageExpression"]);
  const expression = textOf(validation["expression"]);
  const errors =
    expression.trim() === ""
      ? requireExpression(expression, `${field}.expression`)
      : expressions.check("condition", expression, `${field}.expression`);
  if (messageExpression !== "" && messageExpression.trim() === "") {
    const text = "must be non-empty if specified";
    errors.push(fieldError.invalid(`${field}.messageExpression`, messageExpression, text));
  } else if (messageExpression !== "") {
    errors.push(...expressions.check("message", messageExpression, `${field}.messageExpression`));
  }
  if (message !== "" && message.trim() === "") {
    errors.push(fieldError.invalid(`${field}.message`, message, "must be non-empty if specified"));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(fieldError.invalid(`${field}.message`, message, "must not contain line breaks"));
  }
  if (isPresent(reason) && !reasons.includes(textOf(reason))) {
    errors.push(fieldError.notSupported(`${field}.reason`, reason, reasons));
  }
  return errors;
}

/** The key is completed by the name of the policy. */
function validateAuditAnnotations(
  annotations: readonly JsonObject[],
  policy: string,
  field: string,
  expressions: PolicyExpressions,
): FieldError[] {
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
    const path = `${field}[${at}].valueExpression`;
    errors.push(...validateValueExpression(textOf(annotation["valueExpression"]), path, expressions));
    if (seen.has(key)) errors.push(fieldError.duplicate(`${field}[${at}].key`, key));
    seen.add(key);
  }
  return errors;
}

function validateValueExpression(value: string, field: string, expressions: PolicyExpressions): FieldError[] {
  const text = value.trim();
  if (Buffer.byteLength(text) > valueExpressionBytesMax) {
    return [fieldError.required(field, `must not exceed ${valueExpressionBytesMax} bytes in length`)];
  }
  if (text === "") return requireExpression(value, field, "valueExpression");
  return expressions.check("auditAnnotation", text, field, value);
}

/** The block that belongs to the type of the patch, and not the other. */
function validateMutation(mutation: JsonObject, field: string, expressions: PolicyExpressions): FieldError[] {
  const type = textOf(mutation["patchType"]);
  const errors = validateRequiredChoice(type, patchTypes, `${field}.patchType`);
  if (errors.length > 0) return errors;
  const [own, other] =
    type === "JSONPatch"
      ? (["jsonPatch", "applyConfiguration"] as const)
      : (["applyConfiguration", "jsonPatch"] as const);
  const text = textOf(objectOf(mutation[own])["expression"]).trim();
  if (!isPresent(mutation[own])) {
    errors.push(fieldError.required(`${field}.${own}`, `must be specified when patchType is ${type}`));
  } else if (text === "") errors.push(fieldError.required(`${field}.${own}.expression`));
  else errors.push(...expressions.check(own, text, `${field}.${own}.expression`));
  if (isPresent(mutation[other])) {
    const why = `must not be specified when patchType is ${type}`;
    errors.push(fieldError.invalid(`${field}.${other}`, `{${other}}`, why));
  }
  return errors;
}
