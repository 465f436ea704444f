import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { ResourceClaim, ResourceList, ResourceRequirements } from "../../../api/types/core-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import {
  isWhole,
  notIntegerText,
  parsedQuantity,
  validateQuantityNotNegative,
} from "../../../api/validation/quantity.ts";
import {
  hugePageSize,
  isHugePages,
  isOvercommitAllowed,
  isWholeResource,
  validateContainerResourceName,
} from "../../../api/validation/resource-name.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

export interface RequirementRules {
  readonly validateName: (name: string, field: string) => FieldError[];
  /** Names of the claims of the pod. */
  readonly claims: ReadonlySet<string>;
}

const ofContainers: RequirementRules = { validateName: validateContainerResourceName, claims: new Set() };

/** Validates requests and limits: known names, no negative amounts, no request above its limit. */
export function validateResourceRequirements(
  resources: ResourceRequirements,
  field: string,
  { validateName, claims }: RequirementRules = ofContainers,
): FieldError[] {
  if (Object.keys(resources).length === 0) return [];
  const { limits = {}, requests = {}, claims: used = [] } = resources;
  const ofAmounts = (amounts: ResourceList, path: string, name: string) => [
    ...validateName(name, `${path}[${name}]`),
    ...validateResourceAmount(name, amounts[name], `${path}[${name}]`),
  ];
  return [
    ...validateEach(Object.keys(limits), (name) => [
      ...ofAmounts(limits, `${field}.limits`, name),
      ...validatePages(name, limits[name], `${field}.limits[${name}]`),
    ]),
    ...validateEach(Object.keys(requests), (name) => [
      ...ofAmounts(requests, `${field}.requests`, name),
      ...validateAgainstLimit(name, requests[name], limits, field),
      ...validatePages(name, requests[name], `${field}.requests[${name}]`),
    ]),
    ...validateHugePagesWithOthers([...Object.keys(limits), ...Object.keys(requests)], field),
    ...validateClaims(used, claims, `${field}.claims`),
  ];
}

/** Validates an amount, which is not negative, and whole if the resource cannot be divided. */
export function validateResourceAmount(name: string, amount: string | undefined, field: string): FieldError[] {
  const errors = validateQuantityNotNegative(amount, field);
  const quantity = parsedQuantity(amount);
  if (quantity !== undefined && isWholeResource(name) && !isWhole(quantity)) {
    errors.push(fieldError.invalid(field, amount, notIntegerText));
  }
  return errors;
}

function validateAgainstLimit(
  name: string,
  request: string | undefined,
  limits: ResourceList,
  field: string,
): FieldError[] {
  const limit = Object.hasOwn(limits, name) ? parsedQuantity(limits[name]) : undefined;
  const overcommitted = isOvercommitAllowed(name);
  if (limit === undefined) {
    if (overcommitted) return [];
    return [fieldError.required(`${field}.limits`, "Limit must be set for non overcommitable resources")];
  }
  const asked = parsedQuantity(request);
  const order = asked === undefined ? 0 : compareQuantities(asked, limit);
  if (order === 0 || (overcommitted && order < 0)) return [];
  const relation = overcommitted ? "less than or equal to" : "equal to";
  return [fieldError.invalid(`${field}.requests`, request, `must be ${relation} ${name} limit of ${limits[name]}`)];
}

/** Only whole pages can be used. */
function validatePages(name: string, amount: string | undefined, field: string): FieldError[] {
  if (!isHugePages(name)) return [];
  const [pages, page] = [parsedQuantity(amount), hugePageSize(name)];
  if (pages === undefined || (page !== undefined && page.nanos > 0n && pages.nanos % page.nanos === 0n)) return [];
  return [fieldError.invalid(field, amount, `${amount} is not positive integer multiple of ${name}`)];
}

function validateHugePagesWithOthers(names: readonly string[], field: string): FieldError[] {
  const alone = names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory");
  return alone ? [fieldError.forbidden(field, "HugePages require cpu or memory")] : [];
}

/** Validates the claims that a container uses. They are claims of its pod, each request once. */
function validateClaims(used: readonly ResourceClaim[], claims: ReadonlySet<string>, field: string): FieldError[] {
  const whole = new Set<string>();
  const parts = new Set<string>();
  const known = new Set<string>();
  return validateEach(used, ({ name, request = "" }, at) => {
    const item = `${field}[${at}]`;
    if (name === "") return [fieldError.required(item)];
    const errors: FieldError[] = [];
    const key = request === "" ? name : `${name}/${request}`;
    if (whole.has(name)) errors.push(fieldError.duplicate(item, name));
    else {
      errors.push(...validateText(request, dnsLabelProblems, `${item}.request`));
      if (parts.has(key) || (request === "" && known.has(name))) errors.push(fieldError.duplicate(item, key));
      (request === "" ? whole : parts).add(key);
      known.add(name);
    }
    if (!claims.has(name)) errors.push(fieldError.notFound(item, name, claimHint(claims)));
    return errors;
  });
}

function claimHint(claims: ReadonlySet<string>): string {
  const shown = [...claims].slice(0, fieldErrorsMax).sort();
  const names = claims.size === 0 ? " which is empty" : `: ${shown.join(", ")}`;
  return `must be one of the names in pod.spec.resourceClaims${names}`;
}
