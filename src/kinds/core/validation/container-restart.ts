import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const policies = ["Always", "Never", "OnFailure"];
const actions = ["Restart", "RestartAllContainers"];
const operators = ["In", "NotIn"];
const rulesMax = 20;
const exitCodesMax = 255;

/** A container's own restart policy, and the exit codes that make exceptions from it. */
export function validateRestartRules(container: JsonObject, field: string): FieldError[] {
  const policy = container["restartPolicy"];
  const rules = objectsOf(container["restartPolicyRules"]);
  const errors: FieldError[] = [];
  if (isPresent(policy) && !policies.includes(textOf(policy))) {
    errors.push(fieldError.notSupported(`${field}.restartPolicy`, policy, policies));
  }
  if (!isPresent(policy) && rules.length > 0) {
    const text = "must specify restartPolicy when restart rules are used";
    errors.push(fieldError.required(`${field}.restartPolicy`, text));
  }
  if (rules.length > rulesMax) errors.push(fieldError.tooMany(`${field}.restartPolicyRules`, rules.length, rulesMax));
  return [...errors, ...validateEach(rules, (rule, at) => validateRule(rule, `${field}.restartPolicyRules[${at}]`))];
}

function validateRule(rule: JsonObject, field: string): FieldError[] {
  const action = textOf(rule["action"]);
  const errors = actions.includes(action) ? [] : [fieldError.notSupported(`${field}.action`, action, actions)];
  if (!isPresent(rule["exitCodes"])) return [...errors, fieldError.required(`${field}.exitCodes`, "must be specified")];
  const { operator, values } = fieldsOf(rule["exitCodes"]);
  if (!operators.includes(textOf(operator))) {
    errors.push(fieldError.notSupported(`${field}.exitCodes.operator`, textOf(operator), operators));
  }
  const count = Array.isArray(values) ? values.length : 0;
  if (count > exitCodesMax) errors.push(fieldError.tooMany(`${field}.exitCodes.values`, count, exitCodesMax));
  return errors;
}
