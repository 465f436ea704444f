import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../../api/quantity.ts";
import type { LimitRange, LimitRangeItem, ResourceList } from "../../../api/types/core-v1.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";
import {
  isOvercommitAllowed,
  validateContainerResourceName,
  validateResourceName,
} from "../../../api/validation/resource-name.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const limitTypes = ["Pod", "Container", "PersistentVolumeClaim"];
const one = parseQuantity("1");

/** Amounts of an item, by resource. */
type AmountList = Exclude<keyof LimitRangeItem, "type">;
const boundLists: readonly AmountList[] = ["max", "min", "default", "defaultRequest"];
const forbiddenForPods: readonly AmountList[] = ["default", "defaultRequest"];

export function validateLimitRange({ spec }: LimitRange): FieldError[] {
  const types = new Set<string>();
  return validateEach(spec?.limits ?? [], (limit, at) => {
    const field = `spec.limits[${at}]`;
    const { type } = limit;
    const errors = validateType(type, `${field}.type`);
    if (types.has(type)) errors.push(fieldError.duplicate(`${field}.type`, type));
    types.add(type);
    return [...errors, ...validateLimit(limit, type, field)];
  });
}

function validateType(type: string, field: string): FieldError[] {
  const problems = labelKeyErrors(type).map((problem) => fieldError.invalid(field, type, problem));
  if (problems.length > 0 || type.includes("/") || limitTypes.includes(type)) return problems;
  return [fieldError.invalid(field, type, "must be a standard limit type or fully qualified")];
}

function validateLimit(limit: LimitRangeItem, type: string, field: string): FieldError[] {
  const forbidden = type === "Pod" ? forbiddenForPods : [];
  const ofNames = (list: AmountList) => {
    const amounts = limit[list] ?? {};
    const validateName = type === "Pod" || type === "Container" ? validateContainerResourceName : validateResourceName;
    if (forbidden.includes(list)) {
      if (Object.keys(amounts).length === 0) return [];
      return [fieldError.forbidden(`${field}.${list}`, "may not be specified when `type` is 'Pod'")];
    }
    return validateEach(Object.keys(amounts), (name) => validateName(name, `${field}.${list}[${name}]`));
  };
  return [
    ...boundLists.flatMap(ofNames),
    ...validateClaimLimit(limit, type, field),
    ...ofNames("maxLimitRequestRatio"),
    ...namesOf(limit, forbidden).flatMap((name) => validateAmounts(limit, name, forbidden, field)),
  ];
}

function validateClaimLimit({ min = {}, max = {} }: LimitRangeItem, type: string, field: string): FieldError[] {
  const limited = Object.hasOwn(min, "storage") || Object.hasOwn(max, "storage");
  if (type !== "PersistentVolumeClaim" || limited) return [];
  const text = "either minimum or maximum storage value is required, but neither was provided";
  return [fieldError.required(`${field}.limits`, text)];
}

function namesOf(limit: LimitRangeItem, forbidden: readonly AmountList[]): string[] {
  const used = [...boundLists, "maxLimitRequestRatio" as const].filter((list) => !forbidden.includes(list));
  return [...new Set(used.flatMap((list) => Object.keys(limit[list] ?? {})))];
}

/** Checks that min ≤ defaultRequest ≤ default ≤ max for one resource. */
function validateAmounts(
  limit: LimitRangeItem,
  name: string,
  forbidden: readonly AmountList[],
  field: string,
): FieldError[] {
  const amountOf = (list: AmountList) => {
    const amounts: ResourceList = limit[list] ?? {};
    return forbidden.includes(list) || !Object.hasOwn(amounts, name) ? undefined : parsedQuantity(amounts[name]);
  };
  const textOfAmount = (list: AmountList) => limit[list]?.[name] ?? "";
  const errors: FieldError[] = [];
  for (const { low, high, at, shown, text } of orders) {
    const [a, b] = [amountOf(low), amountOf(high)];
    if (a === undefined || b === undefined || compareQuantities(a, b) <= 0) continue;
    const problem = text(textOfAmount(low), textOfAmount(high));
    errors.push(fieldError.invalid(`${field}.${at}[${name}]`, textOfAmount(shown), problem));
  }
  const ratio = amountOf("maxLimitRequestRatio");
  if (ratio !== undefined) {
    const bounds = { min: amountOf("min"), max: amountOf("max"), text: textOfAmount("maxLimitRequestRatio") };
    errors.push(...validateRatio(ratio, bounds, `${field}.maxLimitRequestRatio[${name}]`));
  }
  const [fallback, request] = [amountOf("default"), amountOf("defaultRequest")];
  if (isOvercommitAllowed(name) || fallback === undefined || request === undefined) return errors;
  if (compareQuantities(fallback, request) === 0) return errors;
  const [defaultText, requestText] = [textOfAmount("default"), textOfAmount("defaultRequest")];
  const text = `default value ${defaultText} must equal to defaultRequest value ${requestText} in ${name}`;
  return [...errors, fieldError.invalid(`${field}.defaultRequest[${name}]`, requestText, text)];
}

interface Order {
  readonly low: AmountList;
  readonly high: AmountList;
  /** The list that the error names, and the one whose amount it shows. */
  readonly at: AmountList;
  readonly shown: AmountList;
  readonly text: (low: string, high: string) => string;
}

const orders: readonly Order[] = [
  {
    low: "min",
    high: "max",
    at: "min",
    shown: "min",
    text: (low, high) => `min value ${low} is greater than max value ${high}`,
  },
  {
    low: "min",
    high: "defaultRequest",
    at: "defaultRequest",
    shown: "defaultRequest",
    text: (low, high) => `min value ${low} is greater than default request value ${high}`,
  },
  {
    low: "defaultRequest",
    high: "max",
    at: "defaultRequest",
    shown: "defaultRequest",
    text: (low, high) => `default request value ${low} is greater than max value ${high}`,
  },
  {
    low: "defaultRequest",
    high: "default",
    at: "defaultRequest",
    shown: "defaultRequest",
    text: (low, high) => `default request value ${low} is greater than default limit value ${high}`,
  },
  {
    low: "min",
    high: "default",
    at: "default",
    shown: "min",
    text: (low, high) => `min value ${low} is greater than default value ${high}`,
  },
  {
    low: "default",
    high: "max",
    at: "default",
    shown: "max",
    text: (low, high) => `default value ${low} is greater than max value ${high}`,
  },
];

/** Checks the ratio of limit to request, which the bounds of both restrict. */
function validateRatio(
  ratio: Quantity,
  { min, max, text }: { min: Quantity | undefined; max: Quantity | undefined; text: string },
  field: string,
): FieldError[] {
  const errors =
    compareQuantities(ratio, one) < 0 ? [fieldError.invalid(field, text, `ratio ${text} is less than 1`)] : [];
  if (min === undefined || max === undefined || min.nanos <= 0n) return errors;
  const most = Number(max.nanos) / Number(min.nanos);
  if (Number(ratio.nanos) / Number(one.nanos) <= most) return errors;
  return [...errors, fieldError.invalid(field, text, `ratio ${text} is greater than max/min = ${most.toFixed(6)}`)];
}
