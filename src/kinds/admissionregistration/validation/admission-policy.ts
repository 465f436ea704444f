import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { parseApiVersion } from "../../../api/gvk.ts";
import { equalJson } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type {
  AuditAnnotation,
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicySpec,
  Mutation,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
  Variable,
} from "../../../api/types/admissionregistration-v1.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validateGivenChoice, validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach, validateEachInTurns } from "../../../api/validation/validate-each.ts";
import { validateNamedRule } from "./admission-rule.ts";
import { validateMatchConditions } from "./match-conditions.ts";
import { PolicyExpressions } from "./policy-expressions.ts";

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

type PolicySpec = ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec;

/**
 * Checks the fields and compiles the expressions. Expressions of `old` may use the additions of this release. Yields
 * between expressions.
 */
export function* validateValidatingPolicy(
  { metadata, spec = {} }: ValidatingAdmissionPolicy,
  old?: ValidatingAdmissionPolicy,
): Generator<void, FieldError[]> {
  const stored = old?.spec ?? {};
  const annotations = spec.auditAnnotations ?? [];
  const texts = [
    ...(stored.validations ?? []).flatMap(({ expression, messageExpression }) => [expression, messageExpression]),
    ...(stored.auditAnnotations ?? []).map(({ valueExpression }) => valueExpression),
  ];
  const expressions = new PolicyExpressions({
    hasParams: spec.paramKind !== undefined,
    composes: (spec.variables ?? []).length > 0,
    stored: textSet(texts),
  });
  return [
    ...validateConstraints(spec),
    ...(yield* validateComposition(spec, stored, expressions)),
    ...(yield* validateValidations(spec.validations ?? [], annotations.length === 0, expressions)),
    ...(yield* validateAuditAnnotations(annotations, metadata.name ?? "", "spec.auditAnnotations", expressions)),
  ].slice(0, fieldErrorsMax);
}

function textSet(texts: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => (text === undefined || text === "" ? [] : [text])));
}

/** Checks the warnings of the controller that checks the types of the expressions. */
export function validateValidatingPolicyStatus({ status = {} }: ValidatingAdmissionPolicy): FieldError[] {
  const { typeChecking, conditions } = status;
  const field = "status.typeChecking.expressionWarnings";
  const warnings = validateEach(typeChecking?.expressionWarnings ?? [], ({ warning = "", fieldRef = "" }, at) => [
    ...(warning === "" ? [fieldError.required(`${field}[${at}].warning`)] : []),
    ...(fieldRef.trim() === "" ? [fieldError.required(`${field}[${at}].fieldRef`)] : []),
  ]);
  return [...warnings.slice(0, fieldErrorsMax), ...validateConditions(conditions, "status.conditions")];
}

/** Does the same for a policy that changes objects. */
export function* validateMutatingPolicy(
  { spec = {} }: MutatingAdmissionPolicy,
  old?: MutatingAdmissionPolicy,
): Generator<void, FieldError[]> {
  const stored = old?.spec ?? {};
  const mutations = spec.mutations ?? [];
  const expressions = new PolicyExpressions({
    hasParams: spec.paramKind !== undefined,
    composes: true,
    stored: textSet((stored.mutations ?? []).map(({ applyConfiguration }) => applyConfiguration?.expression)),
  });
  return [
    ...validateConstraints(spec),
    ...validateMutableOperations(spec.matchConstraints, "spec.matchConstraints"),
    ...(yield* validateComposition(spec, stored, expressions)),
    ...(mutations.length === 0
      ? [fieldError.required("spec.mutations", "mutations must contain at least one item")]
      : []),
    ...(yield* validateEachInTurns(mutations, (mutation, at) =>
      validateMutation(mutation, `spec.mutations[${at}]`, expressions),
    )),
    ...validateRequiredChoice(spec.reinvocationPolicy, reinvocationPolicies, "spec.reinvocationPolicy"),
  ].slice(0, fieldErrorsMax);
}

/** Checks which requests a policy is for. */
function validateConstraints({ failurePolicy, paramKind, matchConstraints }: PolicySpec): FieldError[] {
  return [
    // An empty text is a choice that is not supported; only an unset one is missing.
    ...(failurePolicy === ""
      ? [fieldError.notSupported("spec.failurePolicy", failurePolicy, failurePolicies)]
      : validateRequiredChoice(failurePolicy, failurePolicies, "spec.failurePolicy")),
    ...(paramKind === undefined ? [] : validateParamKind(paramKind, "spec.paramKind")),
    ...(matchConstraints === undefined
      ? [fieldError.required("spec.matchConstraints")]
      : [
          ...validateMatchResources(matchConstraints, "spec.matchConstraints"),
          ...((matchConstraints.resourceRules ?? []).length === 0
            ? [fieldError.required("spec.matchConstraints.resourceRules")]
            : []),
        ]),
  ];
}

/** Checks the conditions and the variables, which later expressions use. */
function* validateComposition(
  { paramKind, matchConditions, variables = [] }: PolicySpec,
  stored: PolicySpec,
  expressions: PolicyExpressions,
): Generator<void, FieldError[]> {
  const isUnchanged = equalJson(matchConditions, stored.matchConditions) && equalJson(paramKind, stored.paramKind);
  const options = { hasParams: paramKind !== undefined, stored: stored.matchConditions };
  return [
    ...(isUnchanged ? [] : yield* validateMatchConditions(matchConditions ?? [], "spec.matchConditions", options)),
    ...(yield* validateEachInTurns(variables, (variable, at) =>
      validateVariable(variable, `spec.variables[${at}]`, expressions),
    )),
  ];
}

export function validateMatchResources(resources: MatchResources, field: string): FieldError[] {
  return [
    ...validateGivenChoice(resources.matchPolicy, matchPolicies, `${field}.matchPolicy`),
    ...(["namespaceSelector", "objectSelector"] as const).flatMap((name) =>
      resources[name] === undefined
        ? [fieldError.required(`${field}.${name}`)]
        : validateLabelSelector(resources[name], `${field}.${name}`),
    ),
    ...(["resourceRules", "excludeResourceRules"] as const).flatMap((name) =>
      validateEach(resources[name] ?? [], (rule, at) => validateNamedRule(rule, `${field}.${name}[${at}]`)),
    ),
  ];
}

/** Rejects DELETE: an object that is deleted cannot be changed any more. */
export function validateMutableOperations(resources: MatchResources | undefined, field: string): FieldError[] {
  return (resources?.resourceRules ?? [])
    .flatMap(({ operations = [] }) => operations)
    .filter((operation) => !mutableOperations.includes(operation))
    .map((operation) => fieldError.notSupported(`${field}.resourceRules.operations`, operation, mutableOperations));
}

function validateParamKind({ apiVersion = "", kind: name = "" }: ParamKind, field: string): FieldError[] {
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

function* validateVariable(
  { name = "", expression: text = "" }: Variable,
  field: string,
  expressions: PolicyExpressions,
): Generator<void, FieldError[]> {
  const errors: FieldError[] = [];
  if (name.trim() === "") errors.push(fieldError.required(`${field}.name`, "name is not specified"));
  else if (!isCelIdentifier(name)) {
    errors.push(fieldError.invalid(`${field}.name`, name, "must be a valid CEL identifier"));
  }
  if (text.trim() === "") return [...errors, ...requireExpression(text, `${field}.expression`)];
  return [...errors, ...(yield* expressions.addVariable(name, text, `${field}.expression`))];
}

function isCelIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !celReserved.has(name);
}

function requireExpression(text: string, field: string, what = "expression"): FieldError[] {
  return text.trim() === "" ? [fieldError.required(field, `${what} is not specified`)] : [];
}

function* validateValidations(
  validations: readonly Validation[],
  isOnlyPart: boolean,
  expressions: PolicyExpressions,
): Generator<void, FieldError[]> {
  if (validations.length === 0 && isOnlyPart) {
    const text = "validations or auditAnnotations must contain at least one item";
    return [fieldError.required("spec.validations", text), fieldError.required("spec.auditAnnotations", text)];
  }
  return yield* validateEachInTurns(validations, (validation, at) =>
    validateValidation(validation, `spec.validations[${at}]`, expressions),
  );
}

function* validateValidation(
  { expression = "", message = "", messageExpression = "", reason }: Validation,
  field: string,
  expressions: PolicyExpressions,
): Generator<void, FieldError[]> {
  const errors =
    expression.trim() === ""
      ? requireExpression(expression, `${field}.expression`)
      : yield* expressions.check("condition", expression, `${field}.expression`);
  if (messageExpression !== "" && messageExpression.trim() === "") {
    const text = "must be non-empty if specified";
    errors.push(fieldError.invalid(`${field}.messageExpression`, messageExpression, text));
  } else if (messageExpression !== "") {
    errors.push(...(yield* expressions.check("message", messageExpression, `${field}.messageExpression`)));
  }
  if (message !== "" && message.trim() === "") {
    errors.push(fieldError.invalid(`${field}.message`, message, "must be non-empty if specified"));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(fieldError.invalid(`${field}.message`, message, "must not contain line breaks"));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(fieldError.notSupported(`${field}.reason`, reason, reasons));
  }
  return errors;
}

/** A key is prefixed with the name of the policy. */
function* validateAuditAnnotations(
  annotations: readonly AuditAnnotation[],
  policy: string,
  field: string,
  expressions: PolicyExpressions,
): Generator<void, FieldError[]> {
  const errors: FieldError[] = [];
  if (annotations.length > auditAnnotationsMax) {
    const text = `must not have more than ${auditAnnotationsMax} auditAnnotations`;
    errors.push(fieldError.invalid(field, [...annotations], text));
  }
  const seen = new Set<string>();
  for (const [at, { key = "", valueExpression = "" }] of annotations.entries()) {
    const full = `${policy}/${key}`;
    const problems = policy === "" ? ["requires metadata.name be non-empty"] : labelKeyErrors(full);
    const value = policy === "" ? key : full;
    errors.push(...problems.map((problem) => fieldError.invalid(`${field}[${at}].key`, value, problem)));
    const path = `${field}[${at}].valueExpression`;
    errors.push(...(yield* validateValueExpression(valueExpression, path, expressions)));
    if (seen.has(key)) errors.push(fieldError.duplicate(`${field}[${at}].key`, key));
    seen.add(key);
    yield;
  }
  return errors;
}

function* validateValueExpression(
  value: string,
  field: string,
  expressions: PolicyExpressions,
): Generator<void, FieldError[]> {
  const text = value.trim();
  if (Buffer.byteLength(text) > valueExpressionBytesMax) {
    return [fieldError.required(field, `must not exceed ${valueExpressionBytesMax} bytes in length`)];
  }
  if (text === "") return requireExpression(value, field, "valueExpression");
  return yield* expressions.check("auditAnnotation", text, field, value);
}

/** Requires the block of the patch type and forbids the other. */
function* validateMutation(
  mutation: Mutation,
  field: string,
  expressions: PolicyExpressions,
): Generator<void, FieldError[]> {
  const { patchType: type } = mutation;
  const errors = validateRequiredChoice(type, patchTypes, `${field}.patchType`);
  if (errors.length > 0) return errors;
  const [own, other] =
    type === "JSONPatch"
      ? (["jsonPatch", "applyConfiguration"] as const)
      : (["applyConfiguration", "jsonPatch"] as const);
  const text = (mutation[own]?.expression ?? "").trim();
  if (mutation[own] === undefined) {
    errors.push(fieldError.required(`${field}.${own}`, `must be specified when patchType is ${type}`));
  } else if (text === "") errors.push(fieldError.required(`${field}.${own}.expression`));
  else errors.push(...(yield* expressions.check(own, text, `${field}.${own}.expression`)));
  if (mutation[other] !== undefined) {
    const why = `must not be specified when patchType is ${type}`;
    errors.push(fieldError.invalid(`${field}.${other}`, `{${other}}`, why));
  }
  return errors;
}
