import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { compareQuantities, formatQuantity, parseQuantity } from "../../../api/quantity.ts";
import { podTotalOf } from "../defaults/pod.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { isPresent, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";
import { validatePodResourceName } from "../../../api/validation/resource-name.ts";
import { validateResourceRequirements } from "./resource-requirements.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const noQuantity = parseQuantity("0");

/** What a pod asks for as a whole: at least what its containers request, and no less than any may use. */
export function validatePodResources(spec: JsonObject, claims: ReadonlySet<string>, field: string): FieldError[] {
  if (!isPresent(spec["resources"])) return [];
  if (objectOf(spec["os"])["name"] === "windows") {
    return [fieldError.forbidden(field, "may not be set for a windows pod")];
  }
  const resources = objectOf(spec["resources"]);
  const rules = { validateName: validatePodResourceName, claims };
  return [
    ...(isPresent(resources["claims"])
      ? [fieldError.forbidden(`${field}.claims`, "claims may not be set for Resources at pod-level")]
      : []),
    ...validateResourceRequirements(resources, field, rules),
    ...validateRequestsSuffice(spec, objectOf(resources["requests"]), `${field}.requests`),
    ...validateLimitsSuffice(spec, objectOf(resources["limits"]), field),
  ];
}

/** Claims on devices: named once, and each for a claim that exists or for one that is made from a template. */
export function validatePodResourceClaims(value: JsonValue | undefined, field: string): FieldError[] {
  const names = new Set<string>();
  return validateEach(objectsOf(value), (claim, at) => {
    const item = `${field}[${at}]`;
    const [existing, template] = [claim["resourceClaimName"], claim["resourceClaimTemplateName"]];
    const errors = validateClaimName(textOf(claim["name"]), names, `${item}.name`);
    if (isPresent(existing) && isPresent(template)) {
      const text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      errors.push(fieldError.invalid(item, internalForm(claim, "core/v1.PodResourceClaim"), text));
    }
    if (!isPresent(existing) && !isPresent(template)) {
      const text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
      errors.push(fieldError.invalid(item, internalForm(claim, "core/v1.PodResourceClaim"), text));
    }
    for (const name of ["resourceClaimName", "resourceClaimTemplateName"]) {
      if (!isPresent(claim[name])) continue;
      const problems = dnsSubdomainProblems(textOf(claim[name]));
      errors.push(...problems.map((problem) => fieldError.invalid(`${item}.${name}`, claim[name], problem)));
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

function validateRequestsSuffice(spec: JsonObject, requests: JsonObject, field: string): FieldError[] {
  return validateEach([...podTotalOf(spec, "requests")], ([name, total]) => {
    if (validatePodResourceName(name, field).length > 0) return [];
    const asked = (Object.hasOwn(requests, name) ? parsedQuantity(requests[name]) : undefined) ?? noQuantity;
    if (compareQuantities(total, asked) <= 0) return [];
    const text = `must be greater than or equal to aggregate container requests of ${formatQuantity(total)}`;
    return [fieldError.invalid(`${field}[${name}]`, formatQuantity(asked), text)];
  });
}

function validateLimitsSuffice(spec: JsonObject, limits: JsonObject, field: string): FieldError[] {
  return validateEach(objectsOf(spec["containers"]), (container, at) => {
    const own = objectOf(objectOf(container["resources"])["limits"]);
    return validateEach(Object.keys(own), (name) => {
      const [limit, podLimit] = [
        parsedQuantity(own[name]),
        Object.hasOwn(limits, name) && parsedQuantity(limits[name]),
      ];
      if (!limit || !podLimit || compareQuantities(limit, podLimit) <= 0) return [];
      const text = `must be less than or equal to pod limits of ${formatQuantity(podLimit)}`;
      return [fieldError.invalid(`${field}.containers[${at}][${name}].limits`, own[name], text)];
    });
  });
}
