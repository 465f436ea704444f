import { type FieldError, fieldError } from "../field-error.ts";
import { labelKeyErrors } from "../label-syntax.ts";
import { parseQuantity, type Quantity } from "../quantity.ts";

const hugePagesPrefix = "hugepages-";
const quotaRequestsPrefix = "requests.";
const nativeDomain = "kubernetes.io/";

const containerResources: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
const podResources: ReadonlySet<string> = new Set(["cpu", "memory"]);
const objectCounts = [
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const computeQuotas = [
  "cpu",
  "memory",
  "ephemeral-storage",
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
];
const quotaResources: ReadonlySet<string> = new Set([...computeQuotas, ...objectCounts]);
const standardResources: ReadonlySet<string> = new Set([...quotaResources, "storage"]);
const wholeResources: ReadonlySet<string> = new Set(objectCounts);

export function isHugePages(name: string): boolean {
  return name.startsWith(hugePagesPrefix);
}

/** Reports whether a resource belongs to Kubernetes itself: its name has no domain, or Kubernetes' domain. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes(nativeDomain);
}

/** Reports whether a resource is one that a vendor defines, such as `example.com/gpu`. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith(quotaRequestsPrefix)) return false;
  return labelKeyErrors(quotaRequestsPrefix + name).length === 0;
}

/** Reports whether limits of the resource may exceed requests. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

/** Reports whether amounts of the resource must be whole. */
export function isWholeResource(name: string): boolean {
  return wholeResources.has(name) || isExtendedResource(name);
}

export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isQuotaHugePages(name);
}

/** Returns the page size in `hugepages-2Mi`. */
export function hugePageSize(name: string): Quantity | undefined {
  try {
    return parseQuantity(name.slice(hugePagesPrefix.length));
  } catch {
    return undefined;
  }
}

/** Validates the name of a compute resource: qualified, or one of Kubernetes' own. */
export function validateResourceName(name: string, field: string): FieldError[] {
  const problems = labelKeyErrors(name).map((problem) => fieldError.invalid(field, name, problem));
  if (problems.length > 0 || name.includes("/")) return problems;
  if (standardResources.has(name) || isQuotaHugePages(name)) return [];
  return [fieldError.invalid(field, name, "must be a standard resource type or fully qualified")];
}

/** Validates the name of a resource that a container requests. */
export function validateContainerResourceName(name: string, field: string): FieldError[] {
  const problems = validateResourceName(name, field);
  if (!name.includes("/")) {
    if (containerResources.has(name) || isHugePages(name)) return problems;
    return [...problems, fieldError.invalid(field, name, "must be a standard resource for containers")];
  }
  if (isNativeResource(name) || isExtendedResource(name)) return problems;
  return [...problems, fieldError.invalid(field, name, "doesn't follow extended resource name standard")];
}

/** Validates the name of a resource that a pod as a whole requests. */
export function validatePodResourceName(name: string, field: string): FieldError[] {
  const problems = validateResourceName(name, field);
  if (problems.length > 0 || podResources.has(name) || isHugePages(name)) return problems;
  return [fieldError.notSupported(field, name, ["cpu", "hugepages-", "memory"])];
}

/** Validates the name of a resource that a quota limits. */
export function validateQuotaResourceName(name: string, field: string): FieldError[] {
  const problems = validateResourceName(name, field);
  if (name.includes("/") || isQuotaResource(name)) return problems;
  return [...problems, fieldError.invalid(field, name, "must be a standard resource for quota")];
}

/** Reports whether a quota's resource is huge pages, with or without `requests.` in front. */
function isQuotaHugePages(name: string): boolean {
  return isHugePages(name) || name.startsWith(`${quotaRequestsPrefix}${hugePagesPrefix}`);
}
