import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import type { Toleration } from "../../../api/types/core-v1.ts";
import { validateChoice } from "../../../api/validation/field-rules.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const operators = ["Equal", "Exists"];

export function validateTolerations(tolerations: readonly Toleration[] | undefined, field: string): FieldError[] {
  return validateEach(tolerations ?? [], (toleration, at) => validateToleration(toleration, `${field}[${at}]`));
}

function validateToleration(toleration: Toleration, field: string): FieldError[] {
  const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = toleration;
  const problems = key === "" ? [] : labelKeyErrors(key);
  const errors = problems.map((problem) => fieldError.invalid(`${field}.key`, key, problem));
  if (key === "" && operator !== "Exists") {
    const text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(fieldError.invalid(`${field}.operator`, operator, text));
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    const text = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(fieldError.invalid(`${field}.effect`, effect, text));
  }
  return [...errors, ...validateValue(value, operator, field), ...validateChoice(effect, effects, `${field}.effect`)];
}

/** Errors about the value name the operator, as upstream has it. */
function validateValue(value: string, operator: string, field: string): FieldError[] {
  switch (operator) {
    case "":
    case "Equal": {
      const problems = labelValueErrors(value);
      return problems.length === 0 ? [] : [fieldError.invalid(`${field}.operator`, value, problems.join(";"))];
    }
    case "Exists":
      if (value === "") return [];
      return [fieldError.invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'")];
    case "Lt":
    case "Gt":
      // The error names comparisons although they are behind a gate.
      return [fieldError.notSupported(`${field}.operator`, operator, [...operators, "Lt", "Gt"])];
    default:
      return [fieldError.notSupported(`${field}.operator`, operator, operators)];
  }
}
