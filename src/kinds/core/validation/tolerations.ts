import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import { isPresent, objectsOf, textOf, validateChoice } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const operators = ["Equal", "Exists", "Lt", "Gt"];

/** @param compares whether the operators that compare numbers may be used */
export function validateTolerations(
  value: JsonValue | undefined,
  field: string,
  { compares }: { readonly compares: boolean } = { compares: true },
): FieldError[] {
  return validateEach(objectsOf(value), (toleration, at) =>
    validateToleration(toleration, compares, `${field}[${at}]`),
  );
}

function validateToleration(toleration: JsonObject, compares: boolean, field: string): FieldError[] {
  const [key, operator] = [textOf(toleration["key"]), textOf(toleration["operator"])];
  const effect = textOf(toleration["effect"]);
  const problems = key === "" ? [] : labelKeyErrors(key);
  const errors = problems.map((problem) => fieldError.invalid(`${field}.key`, key, problem));
  if (key === "" && operator !== "Exists") {
    const text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(fieldError.invalid(`${field}.operator`, operator, text));
  }
  if (isPresent(toleration["tolerationSeconds"]) && effect !== "NoExecute") {
    const text = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(fieldError.invalid(`${field}.effect`, effect, text));
  }
  return [
    ...errors,
    ...validateValue(textOf(toleration["value"]), operator, compares, field),
    ...validateChoice(effect, effects, `${field}.effect`),
  ];
}

/** Errors about the value name the operator, as upstream has it. */
function validateValue(value: string, operator: string, compares: boolean, field: string): FieldError[] {
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
      return compares
        ? validateNumber(value, `${field}.value`)
        : [fieldError.notSupported(`${field}.operator`, operator, operators)];
    default:
      return [fieldError.notSupported(`${field}.operator`, operator, operators)];
  }
}

/** An int64 in its shortest form: other texts would not compare as the label value that they are. */
function validateNumber(value: string, field: string): FieldError[] {
  const isNumber = /^-?[0-9]{1,19}$/.test(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value);
  if (isNumber && String(BigInt(value)) === value) return [];
  return [fieldError.invalid(field, value, "value must be a valid integer without leading zeros")];
}
