import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { Container, ContainerRestartRule } from "../../../api/types/core-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const policies = ["Always", "Never", "OnFailure"];
const actions = ["Restart", "RestartAllContainers"];
const operators = ["In", "NotIn"];
const rulesMax = 20;
const exitCodesMax = 255;

/** Validates a container's own restart policy, and the exit codes with other actions. */
export function validateRestartRules(container: Container, field: string): FieldError[] {
  const { restartPolicy: policy, restartPolicyRules: rules = [] } = container;
  const errors: FieldError[] = [];
  if (policy === undefined && rules.length > 0) errors.push(policyRequired(field));
  if (policy !== undefined && !policies.includes(policy)) {
    errors.push(fieldError.notSupported(`${field}.restartPolicy`, policy, policies));
  }
  if (rules.length > rulesMax) errors.push(fieldError.tooMany(`${field}.restartPolicyRules`, rules.length, rulesMax));
  return [...errors, ...validateEach(rules, (rule, at) => validateRule(rule, `${field}.restartPolicyRules[${at}]`))];
}

/** Validates the same of an init container, whose rules only count with a policy. */
export function validateInitRestartRules(container: Container, field: string): FieldError[] {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  if (restartPolicy !== undefined) return validateRestartRules(container, field);
  return rules.length > 0 ? [policyRequired(field)] : [];
}

function policyRequired(field: string): FieldError {
  return fieldError.required(`${field}.restartPolicy`, "must specify restartPolicy when restart rules are used");
}

function validateRule({ action = "", exitCodes }: ContainerRestartRule, field: string): FieldError[] {
  const errors = actions.includes(action) ? [] : [fieldError.notSupported(`${field}.action`, action, actions)];
  if (exitCodes === undefined) return [...errors, fieldError.required(`${field}.exitCodes`, "must be specified")];
  const { operator = "", values = [] } = exitCodes;
  if (!operators.includes(operator)) {
    errors.push(fieldError.notSupported(`${field}.exitCodes.operator`, operator, operators));
  }
  if (values.length <= exitCodesMax) return errors;
  return [...errors, fieldError.tooMany(`${field}.exitCodes.values`, values.length, exitCodesMax)];
}
