import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { objectsOf, textOf } from "../../../api/json-reading.ts";
import { celTypes, compileTyped } from "../../../cel/index.ts";
import { expressionEnvironment } from "../expressions/environments.ts";
import { problemsOf } from "./policy-expressions.ts";

const conditionsMax = 64;

export interface MatchConditionOptions {
  /** The policy has parameters. */
  readonly hasParams?: boolean;
  /** The conditions of the object that is replaced. */
  readonly stored?: JsonValue | undefined;
}

/** Checks the expressions that all have to hold before a webhook or policy is asked. */
export function validateMatchConditions(
  value: JsonValue | undefined,
  field: string,
  { hasParams = false, stored }: MatchConditionOptions = {},
): FieldError[] {
  const conditions = objectsOf(value);
  const errors = conditions.length > conditionsMax ? [fieldError.tooMany(field, conditions.length, conditionsMax)] : [];
  const known = expressionsOf(stored);
  const seen = new Set<string>();
  for (const [at, condition] of conditions.entries()) {
    const path = `${field}[${at}]`;
    const name = textOf(condition["name"]);
    const text = textOf(condition["expression"]).trim();
    if (text === "") errors.push(fieldError.required(`${path}.expression`));
    // More conditions than there may be are not worth compiling.
    else if (at < conditionsMax) {
      const environment = expressionEnvironment({ hasParams, hasAuthorizer: true }, known.has(text) ? "stored" : "new");
      errors.push(
        ...problemsOf(`${path}.expression`, text, () => compileTyped(text, environment, [celTypes.boolType])),
      );
    }
    if (name === "") {
      errors.push(fieldError.required(`${path}.name`));
      continue;
    }
    errors.push(...labelKeyErrors(name).map((problem) => fieldError.invalid(`${path}.name`, name, problem)));
    if (seen.has(name)) errors.push(fieldError.duplicate(`${path}.name`, name));
    seen.add(name);
  }
  return errors;
}

function expressionsOf(conditions: JsonValue | undefined): Set<string> {
  return new Set(objectsOf(conditions).map(({ expression }) => textOf(expression)));
}
