import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { canonicalQuantity } from "../../../api/quantity.ts";
import type { ObjectFieldSelector, ResourceFieldSelector } from "../../../api/types/core-v1.ts";

/** Fields of its pod that a container may have in an environment variable. */
export const environmentFieldPaths: readonly string[] = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
/** Fields of its pod that a container may have in a file. */
export const volumeFieldPaths: readonly string[] = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];
/** Paths that a reference may name in either place. */
const knownPaths: ReadonlySet<string> = new Set([
  ...environmentFieldPaths,
  ...volumeFieldPaths,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);

/** The name that clients of the first releases use for `spec.nodeName`. */
const oldNodePath = "spec.host";

const resourcePaths: readonly string[] = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const hugePagesPrefixes = ["limits.hugepages-", "requests.hugepages-"];
const wholeDivisors = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";

/** Validates a reference to a field of the pod, such as `metadata.labels['app']`. */
export function validateFieldReference(
  { apiVersion = "", fieldPath }: ObjectFieldSelector,
  allowed: readonly string[],
  field: string,
): FieldError[] {
  const path = fieldPath === oldNodePath ? "spec.nodeName" : fieldPath;
  if (apiVersion === "") return [fieldError.required(`${field}.apiVersion`)];
  if (path === "") return [fieldError.required(`${field}.fieldPath`)];
  if (apiVersion !== "v1") return [unconverted(path, `unsupported pod version: ${apiVersion}`, field)];
  const { base, subscript } = splitSubscript(path);
  if (subscript === undefined) {
    if (allowed.includes(path)) return [];
    if (!knownPaths.has(path)) return [unconverted(path, `field label not supported: ${path}`, field)];
    return [fieldError.notSupported(`${field}.fieldPath`, path, allowed)];
  }
  if (base === "metadata.annotations") return validateSubscript(subscript.toLowerCase(), field);
  if (base === "metadata.labels") return validateSubscript(subscript, field);
  return [unconverted(path, `field label does not support subscript: ${path}`, field)];
}

/** Validates a reference to an amount that a container requests or is limited to, such as `limits.cpu`. */
export function validateResourceReference(
  { containerName = "", resource: path, divisor }: ResourceFieldSelector,
  field: string,
  namesContainer: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  if (namesContainer && containerName === "") errors.push(fieldError.required(`${field}.containerName`));
  else if (path === "") errors.push(fieldError.required(`${field}.resource`));
  else if (!resourcePaths.includes(path) && !hugePagesPrefixes.some((prefix) => path.startsWith(prefix))) {
    errors.push(fieldError.notSupported(`${field}.resource`, path, resourcePaths));
  }
  return [...errors, ...validateDivisor(path, divisor, field)];
}

function validateSubscript(key: string, field: string): FieldError[] {
  return labelKeyErrors(key).map((problem) => fieldError.invalid(field, key, problem));
}

/** `metadata.labels['app']` → `metadata.labels` and `app`. */
function splitSubscript(path: string): { base: string; subscript: string | undefined } {
  const at = path.indexOf("['");
  if (at <= 0 || !path.endsWith("']") || path.length < at + 4) return { base: path, subscript: undefined };
  return { base: path.slice(0, at), subscript: path.slice(at + 2, -2) };
}

function unconverted(path: string, why: string, field: string): FieldError {
  return fieldError.invalid(`${field}.fieldPath`, path, `error converting fieldPath: ${why}`);
}

function validateDivisor(path: string, divisor: string | undefined, field: string): FieldError[] {
  const text = divisorText(divisor);
  if (text === "0") return [];
  const resource = path.slice(path.indexOf(".") + 1);
  const invalid = (allowed: string, what: string) =>
    fieldError.invalid(
      `${field}.divisor`,
      path,
      `only divisor's values ${allowed} are supported with the ${what} resource`,
    );
  if (resource === "cpu") return text === "1m" || text === "1" ? [] : [invalid("1m and 1", "cpu")];
  if (wholeDivisors.split(", ").includes(text)) return [];
  if (resource === "memory") return [invalid(wholeDivisors, "memory")];
  if (resource === "ephemeral-storage") return [invalid(wholeDivisors, "local ephemeral storage")];
  return resource.startsWith("hugepages-") ? [invalid(wholeDivisors, "hugepages")] : [];
}

function divisorText(divisor: string | undefined): string {
  try {
    return divisor === undefined ? "0" : canonicalQuantity(divisor);
  } catch {
    return "0";
  }
}
