import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { immutableText } from "../../../api/validation/immutable.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { isQuotaResource, validateQuotaResourceName } from "../../../api/validation/resource-name.ts";
import { validateResourceAmount } from "./resource-requirements.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** Scopes that are about pods, and the resources that a quota of such a scope can limit. */
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
/** Scopes that are either there or not: there is no value to compare. */
const plainScopes = new Set(podScopes.filter((scope) => scope !== "PriorityClass"));
const plainScopeText =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const contradictions = [
  ["BestEffort", "NotBestEffort"],
  ["NotTerminating", "Terminating"],
] as const;

export function validateResourceQuota(quota: KubeObject): FieldError[] {
  const spec = objectOf(quota["spec"]);
  return [
    ...validateAmounts(objectOf(spec["hard"]), "spec.hard"),
    ...validateScopes(spec, "spec.scopes"),
    ...validateScopeSelector(spec, "spec.scopeSelector.matchExpressions"),
  ];
}

/** Scopes say what is counted: with others, what has been counted would be wrong. */
export function validateResourceQuotaUpdate(quota: KubeObject, old: KubeObject): FieldError[] {
  const scopesOf = (object: KubeObject) => new Set(textsOf(objectOf(object["spec"])["scopes"]));
  const [fresh, stored] = [scopesOf(quota), scopesOf(old)];
  if (fresh.size === stored.size && [...fresh].every((scope) => stored.has(scope))) return [];
  return [fieldError.invalid("spec.scopes", objectOf(quota["spec"])["scopes"], immutableText)];
}

export function validateResourceQuotaStatus(quota: KubeObject): FieldError[] {
  const status = objectOf(quota["status"]);
  return ["hard", "used"].flatMap((name) => validateAmounts(objectOf(status[name]), `status.${name}`));
}

function validateAmounts(amounts: JsonObject, field: string): FieldError[] {
  return validateEach(Object.keys(amounts), (name) => [
    ...validateQuotaResourceName(name, `${field}[${name}]`),
    ...validateResourceAmount(name, amounts[name], `${field}[${name}]`),
  ]);
}

function validateScopes(spec: JsonObject, field: string): FieldError[] {
  const scopes = textsOf(spec["scopes"]);
  return [
    ...(scopes.every(isScope) ? [] : [fieldError.invalid(field, scopes, "unsupported scope")]),
    ...([...new Set(scopes)].every((scope) => canLimitAll(scope, spec))
      ? []
      : [fieldError.invalid(field, scopes, "unsupported scope applied to resource")]),
    ...validateNoContradiction(scopes, scopes, field),
  ];
}

function validateScopeSelector(spec: JsonObject, field: string): FieldError[] {
  const expressions = objectsOf(objectOf(spec["scopeSelector"])["matchExpressions"]);
  const scopes = expressions.map((expression) => textOf(expression["scopeName"]));
  return [
    ...validateEach(expressions, (expression) => validateExpression(expression, spec, field)),
    ...validateNoContradiction(scopes, textsOf(spec["scopes"]), field),
  ];
}

/** Upstream names the list in these errors, not its item. */
function validateExpression(expression: JsonObject, spec: JsonObject, field: string): FieldError[] {
  const [scope, operator] = [textOf(expression["scopeName"]), textOf(expression["operator"])];
  const values = textsOf(expression["values"]);
  const errors: FieldError[] = [];
  if (!isScope(scope)) errors.push(fieldError.invalid(`${field}.scopeName`, scope, "unsupported scope"));
  if (!canLimitAll(scope, spec)) {
    errors.push(
      fieldError.invalid(
        field,
        internalForm(spec["scopeSelector"], "core/v1.ScopeSelector"),
        "unsupported scope applied to resource",
      ),
    );
  }
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

/** Whether all standard resources that the quota limits are what the scope is about. */
function canLimitAll(scope: string, spec: JsonObject): boolean {
  if (!isScope(scope)) return true;
  const limited = Object.keys(objectOf(spec["hard"])).filter(isQuotaResource);
  if (scope === claimScope) return limited.every((name) => claimResources.has(name));
  return limited.every((name) => (scope === "BestEffort" ? name === "pods" : podResources.has(name)));
}
