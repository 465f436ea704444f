import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { labelKeyErrors } from "../../api/label-syntax.ts";
import { compareQuantities } from "../../api/quantity.ts";
import { fieldsOf } from "./key-values.ts";
import { parsedQuantity } from "./quantity.ts";

const standardResources = new Set(["cpu", "memory", "ephemeral-storage"]);
const hugePagesPrefix = "hugepages-";

/** Requests and limits of a container: known names, no negative amounts, no request above its limit. */
export function validateResourceRequirements(resources: JsonObject, field: string): FieldError[] {
  const limits = fieldsOf(resources["limits"]);
  const requests = fieldsOf(resources["requests"]);
  return [
    ...Object.keys(limits).flatMap((name) => validateAmount(name, limits[name], `${field}.limits[${name}]`)),
    ...Object.keys(requests).flatMap((name) => [
      ...validateAmount(name, requests[name], `${field}.requests[${name}]`),
      ...validateAgainstLimit(name, requests[name], limits, `${field}.requests`),
    ]),
    ...validateHugePages({ ...requests, ...limits }, field),
  ];
}

function validateAmount(name: string, amount: JsonValue | undefined, field: string): FieldError[] {
  const errors = labelKeyErrors(name).map((problem) => fieldError.invalid(field, name, problem));
  const standard = standardResources.has(name) || name.startsWith(hugePagesPrefix);
  if (!standard && !name.includes("/")) {
    errors.push(fieldError.invalid(field, name, "must be a standard resource for containers"));
  }
  const quantity = parsedQuantity(amount);
  if (quantity === undefined) return errors;
  if (quantity.nanos < 0n) errors.push(fieldError.invalid(field, amount, "must be greater than or equal to 0"));
  if (!standardResources.has(name) && quantity.nanos % 1_000_000_000n !== 0n) {
    errors.push(fieldError.invalid(field, amount, "must be an integer"));
  }
  return errors;
}

function validateAgainstLimit(
  name: string,
  request: JsonValue | undefined,
  limits: JsonObject,
  field: string,
): FieldError[] {
  const asked = parsedQuantity(request);
  const limit = Object.hasOwn(limits, name) ? parsedQuantity(limits[name]) : undefined;
  const exact = !standardResources.has(name);
  if (asked === undefined) return [];
  if (limit === undefined) {
    return exact && name.includes("/")
      ? [fieldError.required(field, "Limit must be set for non overcommitable resources")]
      : [];
  }
  const order = compareQuantities(asked, limit);
  const text = `must be ${exact ? "equal to" : "less than or equal to"} ${name} limit of ${String(limits[name])}`;
  return order > 0 || (exact && order !== 0) ? [fieldError.invalid(field, request, text)] : [];
}

function validateHugePages(amounts: JsonObject, field: string): FieldError[] {
  const names = Object.keys(amounts);
  const alone =
    names.some((name) => name.startsWith(hugePagesPrefix)) && !names.includes("cpu") && !names.includes("memory");
  return alone ? [fieldError.forbidden(field, "HugePages require cpu or memory")] : [];
}
