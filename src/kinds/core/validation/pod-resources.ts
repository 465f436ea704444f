import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { compareQuantities, formatQuantity, parseQuantity } from "../../../api/quantity.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type { PodResourceClaim, PodSpec, ResourceList } from "../../../api/types/core-v1.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";
import { validatePodResourceName } from "../../../api/validation/resource-name.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { podTotalOf } from "../pod-defaults.ts";
import { validateResourceRequirements } from "./resource-requirements.ts";

const noQuantity = parseQuantity("0");

/** Validates the resources of a pod as a whole, which are not below the sum of requests or any single limit. */
export function validatePodResources(spec: PodSpec, claims: ReadonlySet<string>, field: string): FieldError[] {
  const { resources, os } = spec;
  if (resources === undefined) return [];
  if (os?.name === "windows") return [fieldError.forbidden(field, "may not be set for a windows pod")];
  const rules = { validateName: validatePodResourceName, claims };
  return [
    ...(resources.claims === undefined && !isGivenEmpty(resources, "claims")
      ? []
      : [fieldError.forbidden(`${field}.claims`, "claims may not be set for Resources at pod-level")]),
    ...validateResourceRequirements(resources, field, rules),
    ...validateRequestsSuffice(spec, resources.requests ?? {}, `${field}.requests`),
    ...validateLimitsSuffice(spec, resources.limits ?? {}, field),
  ];
}

/** Validates claims on devices: each has a name of its own, and names either an existing claim or a template. */
export function validatePodResourceClaims(claims: readonly PodResourceClaim[], field: string): FieldError[] {
  const names = new Set<string>();
  return validateEach(claims, (claim, at) => {
    const item = `${field}[${at}]`;
    const { resourceClaimName: existing, resourceClaimTemplateName: template } = claim;
    const errors = validateClaimName(claim.name, names, `${item}.name`);
    if (existing !== undefined && template !== undefined) {
      const text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      errors.push(fieldError.invalid(item, internalForm(claim, "core/v1.PodResourceClaim"), text));
    }
    if (existing === undefined && template === undefined) {
      const text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
      errors.push(fieldError.invalid(item, internalForm(claim, "core/v1.PodResourceClaim"), text));
    }
    for (const name of ["resourceClaimName", "resourceClaimTemplateName"] as const) {
      const reference = claim[name];
      if (reference === undefined) continue;
      const problems = dnsSubdomainProblems(reference);
      errors.push(...problems.map((problem) => fieldError.invalid(`${item}.${name}`, reference, problem)));
    }
    return errors;
  });
}

function validateClaimName(name: string, names: Set<string>, field: string): FieldError[] {
  if (name === "") return [fieldError.required(field)];
  if (names.has(name)) return [fieldError.duplicate(field, name)];
  names.add(name);
  return dnsLabelProblems(name).map((problem) => fieldError.invalid(field, name, problem));
}

function validateRequestsSuffice(spec: PodSpec, requests: ResourceList, field: string): FieldError[] {
  return validateEach([...podTotalOf(spec, "requests")], ([name, total]) => {
    if (validatePodResourceName(name, field).length > 0) return [];
    if (!Object.hasOwn(requests, name)) return [];
    const asked = parsedQuantity(requests[name]) ?? noQuantity;
    if (compareQuantities(total, asked) <= 0) return [];
    const text = `must be greater than or equal to aggregate container requests of ${formatQuantity(total)}`;
    return [fieldError.invalid(`${field}[${name}]`, formatQuantity(asked), text)];
  });
}

function validateLimitsSuffice({ containers }: PodSpec, limits: ResourceList, field: string): FieldError[] {
  return validateEach(containers ?? [], ({ resources = {} }, at) =>
    validateEach(Object.entries(resources.limits ?? {}), ([name, amount]) => {
      const limit = parsedQuantity(amount);
      const podLimit = Object.hasOwn(limits, name) ? parsedQuantity(limits[name]) : undefined;
      if (limit === undefined || podLimit === undefined || compareQuantities(limit, podLimit) <= 0) return [];
      const text = `must be less than or equal to pod limits of ${formatQuantity(podLimit)}`;
      return [fieldError.invalid(`${field}.containers[${at}][${name}].limits`, amount, text)];
    }),
  );
}
