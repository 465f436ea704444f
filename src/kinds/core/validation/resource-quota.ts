import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type {
  ResourceList,
  ResourceQuota,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from "../../../api/types/core-v1.ts";
import { immutableText } from "../../../api/validation/immutable.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { isQuotaResource, validateQuotaResourceName } from "../../../api/validation/resource-name.ts";
import { validateEach, validateManyInTurns } from "../../../api/validation/validate-each.ts";
import { atOnce } from "../../../process/sliced.ts";
import { validateResourceAmount } from "./resource-requirements.ts";

/** Scopes of pods. Below are the resources that a quota of such a scope can limit. */
const podScopes = [
  "BestEffort",
  "CrossNamespacePodAffinity",
  "NotBestEffort",
  "NotTerminating",
  "PriorityClass",
  "Terminating",
];
const claimScope = "VolumeAttributesClass";
const podResources: ReadonlySet<string> = new Set([
  "cpu",
  "memory",
  "limits.cpu",
  "limits.memory",
  "requests.cpu",
  "requests.memory",
  "pods",
]);
const claimResources: ReadonlySet<string> = new Set(["persistentvolumeclaims", "requests.storage"]);
/** Scopes that are present or absent, without a value to compare. */
const plainScopes = new Set(podScopes.filter((scope) => scope !== "PriorityClass"));
const plainScopeText =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const misfitText = "unsupported scope applied to resource";
/** Number of items up to which errors about a whole list are repeated. */
const repeatedListMax = 100;
const contradictions = [
  ["BestEffort", "NotBestEffort"],
  ["NotTerminating", "Terminating"],
] as const;

export function* validateResourceQuota({ spec = {} }: ResourceQuota): Generator<void, FieldError[]> {
  return [
    ...(yield* validateAmounts(spec.hard ?? {}, "spec.hard")),
    ...validateScopes(spec, "spec.scopes"),
    ...validateScopeSelector(spec, "spec.scopeSelector.matchExpressions"),
  ];
}

/** Rejects changed scopes, which would make the counts so far wrong. */
export function validateResourceQuotaUpdate({ spec = {} }: ResourceQuota, old: ResourceQuota): FieldError[] {
  const [fresh, stored] = [new Set(spec.scopes), new Set(old.spec?.scopes)];
  if (fresh.size === stored.size && [...fresh].every((scope) => stored.has(scope))) return [];
  const scopes = spec.scopes ?? (isGivenEmpty(spec, "scopes") ? [] : null);
  return [fieldError.invalid("spec.scopes", scopes, immutableText)];
}

export function validateResourceQuotaStatus({ status = {} }: ResourceQuota): FieldError[] {
  const { hard = {}, used = {} } = status;
  return [...atOnce(validateAmounts(hard, "status.hard")), ...atOnce(validateAmounts(used, "status.used"))];
}

function validateAmounts(amounts: ResourceList, field: string): Generator<void, FieldError[]> {
  return validateManyInTurns(Object.keys(amounts), (name) => [
    ...validateQuotaResourceName(name, `${field}[${name}]`),
    ...validateResourceAmount(name, amounts[name], `${field}[${name}]`),
  ]);
}

function validateScopes(spec: ResourceQuotaSpec, field: string): FieldError[] {
  const { scopes = [] } = spec;
  const refuse = refusals(scopes, scopes.length, field);
  const countMisfits = misfitCounter(spec);
  return [
    ...validateEach(scopes, (scope) => [
      ...refuse("unsupported scope", isScope(scope) ? 0 : 1),
      ...refuse(misfitText, countMisfits(scope)),
    ]),
    ...validateNoContradiction(scopes, scopes, field),
  ];
}

function validateScopeSelector(spec: ResourceQuotaSpec, field: string): FieldError[] {
  const { matchExpressions: expressions = [] } = spec.scopeSelector ?? {};
  const scopes = expressions.map(({ scopeName }) => scopeName);
  const countMisfits = misfitCounter(spec);
  const refuse = refusals(internalForm(spec.scopeSelector, "core/v1.ScopeSelector"), expressions.length, field);
  return [
    ...validateEach(expressions, (expression) => [
      ...validateScopeName(expression, field),
      ...refuse(misfitText, countMisfits(expression.scopeName)),
      ...validateExpression(expression, field),
    ]),
    ...validateNoContradiction(scopes, spec.scopes ?? [], field),
  ];
}

/**
 * Returns a function that repeats an error about a whole list. Upstream repeats it for each item of the list and each
 * resource. About a long list it is made once, because each error shows all of the list.
 */
function refusals(list: JsonValue, length: number, field: string) {
  const made = new Map<string, FieldError>();
  return (text: string, times: number): FieldError[] => {
    const known = made.get(text);
    if (times === 0 || (known !== undefined && length > repeatedListMax)) return [];
    const error = known ?? fieldError.invalid(field, list, text);
    made.set(text, error);
    return Array.from({ length: length > repeatedListMax ? 1 : times }, () => error);
  };
}

function validateScopeName({ scopeName: scope }: ScopedResourceSelectorRequirement, field: string): FieldError[] {
  return isScope(scope) ? [] : [fieldError.invalid(`${field}.scopeName`, scope, "unsupported scope")];
}

/** Upstream names the list in these errors, not its item. */
function validateExpression(
  { scopeName: scope, operator, values = [] }: ScopedResourceSelectorRequirement,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (plainScopes.has(scope) && operator !== "Exists") {
    errors.push(fieldError.invalid(`${field}.operator`, operator, plainScopeText));
  }
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        const text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
        errors.push(fieldError.required(`${field}.values`, text));
      }
      return errors;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        const text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
        errors.push(fieldError.invalid(`${field}.values`, values, text));
      }
      return errors;
    default:
      return [...errors, fieldError.invalid(`${field}.operator`, operator, "not a valid selector operator")];
  }
}

function validateNoContradiction(scopes: readonly string[], shown: string[], field: string): FieldError[] {
  return contradictions
    .filter((pair) => pair.every((scope) => scopes.includes(scope)))
    .map(() => fieldError.invalid(field, shown.length === 0 ? null : shown, "conflicting scopes"));
}

function isScope(scope: string): boolean {
  return podScopes.includes(scope) || scope === claimScope;
}

/**
 * Returns a function that counts the standard resources that the quota limits and a scope does not cover, up to a bound.
 * It counts once for each scope, however often a request repeats it.
 */
function misfitCounter({ hard = {} }: ResourceQuotaSpec): (scope: string) => number {
  const limited = Object.keys(hard).filter(isQuotaResource);
  const counts = new Map<string, number>();
  return (scope) => {
    if (!isScope(scope)) return 0;
    const known = counts.get(scope);
    if (known !== undefined) return known;
    const count = Math.min(fieldErrorsMax, limited.filter((name) => !covers(scope, name)).length);
    counts.set(scope, count);
    return count;
  };
}

function covers(scope: string, resource: string): boolean {
  if (scope === claimScope) return claimResources.has(resource);
  return scope === "BestEffort" ? resource === "pods" : podResources.has(resource);
}
