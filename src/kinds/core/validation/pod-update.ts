import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { cloneJson, equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImageOfPod } from "./container.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validatePodAnnotationsUpdate } from "./pod-annotations.ts";
import { isPresent, numberOf, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const forbiddenText =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const deadlineMax = 2_147_483_647;

/** Almost all of a pod's spec is fixed; see the message for what is not. */
export function validatePodUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(pod["spec"]), fieldsOf(old["spec"])];
  const errors = validatePodAnnotationsUpdate(
    pod.metadata.annotations ?? {},
    old.metadata.annotations ?? {},
    "metadata.annotations",
  );
  for (const list of ["containers", "initContainers"]) {
    if (objectsOf(fresh[list]).length !== objectsOf(stored[list]).length) {
      return [...errors, fieldError.forbidden(`spec.${list}`, "pod updates may not add or remove containers")];
    }
    errors.push(...validateImages(objectsOf(fresh[list]), `spec.${list}`));
  }
  const deadline = validateDeadline(fresh["activeDeadlineSeconds"], stored["activeDeadlineSeconds"]);
  errors.push(...deadline);
  if (deadline.length > 0 && isPresent(fresh["activeDeadlineSeconds"])) return errors;
  errors.push(
    ...validateTolerationsOnlyGrow(objectsOf(fresh["tolerations"]), objectsOf(stored["tolerations"])),
    ...validateGatesOnlyShrink(objectsOf(fresh["schedulingGates"]), objectsOf(stored["schedulingGates"])),
  );
  if (isGated(stored)) errors.push(...validateGatedChanges(fresh, stored));
  if (!equalJson(asBefore(fresh, stored), stored)) errors.push(fieldError.forbidden("spec", forbiddenText));
  return errors;
}

/** The new spec with every part that may change, or has been judged, put back to what it was. */
function asBefore(fresh: JsonObject, stored: JsonObject): JsonObject {
  const spec = cloneJson(fresh);
  for (const list of ["containers", "initContainers"]) {
    const old = objectsOf(stored[list]);
    for (const [at, container] of objectsOf(spec[list]).entries()) restore(container, old[at] ?? {}, "image");
  }
  for (const field of ["activeDeadlineSeconds", "tolerations", "schedulingGates"]) restore(spec, stored, field);
  if (isGated(stored)) {
    restore(spec, stored, "nodeSelector");
    restoreNodeAffinity(spec, stored);
  }
  const [grace, oldGrace] = [spec["terminationGracePeriodSeconds"], stored["terminationGracePeriodSeconds"]];
  if (grace === 1 && numberOf(oldGrace) < 0) restore(spec, stored, "terminationGracePeriodSeconds");
  return spec;
}

function restoreNodeAffinity(spec: JsonObject, stored: JsonObject): void {
  const affinity = cloneJson(fieldsOf(spec["affinity"]));
  restore(affinity, fieldsOf(stored["affinity"]), "nodeAffinity");
  if (Object.keys(affinity).length > 0 || isPresent(stored["affinity"])) spec["affinity"] = affinity;
  else delete spec["affinity"];
}

function restore(target: JsonObject, source: JsonObject, field: string): void {
  const value = source[field];
  if (value === undefined) delete target[field];
  else target[field] = value;
}

function isGated(spec: JsonObject): boolean {
  return objectsOf(spec["schedulingGates"]).length > 0;
}

/** A pod that waits for its gates may narrow where it runs. */
function validateGatedChanges(fresh: JsonObject, stored: JsonObject): FieldError[] {
  const [selector, oldSelector] = [fieldsOf(fresh["nodeSelector"]), fieldsOf(stored["nodeSelector"])];
  const errors: FieldError[] = [];
  if (!Object.keys(oldSelector).every((key) => selector[key] === oldSelector[key])) {
    const text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    errors.push(fieldError.invalid("spec.nodeSelector", fresh["nodeSelector"], text));
  }
  const nodeAffinity = (spec: JsonObject) => fieldsOf(fieldsOf(spec["affinity"])["nodeAffinity"]);
  const field = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;
  return [...errors, ...validateTermsOnlyGrow(nodeAffinity(fresh), nodeAffinity(stored), field)];
}

/** Node affinity may be set where there was none; its preferred terms are free, its required terms may gain expressions. */
function validateTermsOnlyGrow(fresh: JsonObject, stored: JsonObject, field: string): FieldError[] {
  const oldTerms = objectsOf(fieldsOf(stored[required])["nodeSelectorTerms"]);
  const terms = objectsOf(fieldsOf(fresh[required])["nodeSelectorTerms"]);
  if (oldTerms.length === 0) return [];
  if (terms.length !== oldTerms.length) {
    const text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    return [fieldError.invalid(field, terms, text)];
  }
  return validateEach(terms, (term, at) =>
    hasOnlyGrown(term, oldTerms[at] ?? {})
      ? []
      : [fieldError.invalid(`${field}[${at}]`, term, "only additions are allowed (no mutations or deletions)")],
  );
}

/** A term without expressions selects nothing: the first expression would widen it. */
function hasOnlyGrown(term: JsonObject, oldTerm: JsonObject): boolean {
  const lists = ["matchExpressions", "matchFields"];
  const isEmpty = (value: JsonObject) => lists.every((list) => objectsOf(value[list]).length === 0);
  if (isEmpty(oldTerm)) return isEmpty(term);
  return lists.every((list) => {
    const expressions = objectsOf(term[list]);
    return objectsOf(oldTerm[list]).every((old, at) => equalJson(expressions[at], old));
  });
}

function validateImages(containers: readonly JsonObject[], field: string): FieldError[] {
  return validateEach(containers, (container, at) => [
    ...(textOf(container["image"]) === "" ? [fieldError.required(`${field}[${at}].image`)] : []),
    ...validateImageOfPod(container, `${field}[${at}]`),
  ]);
}

/** A deadline may be set, and may come closer. */
function validateDeadline(fresh: JsonValue | undefined, stored: JsonValue | undefined): FieldError[] {
  const field = "spec.activeDeadlineSeconds";
  if (!isPresent(fresh)) {
    if (!isPresent(stored)) return [];
    return [fieldError.invalid(field, null, "must not update from a positive integer to nil value")];
  }
  if (numberOf(fresh) < 0 || numberOf(fresh) > deadlineMax) {
    return [fieldError.invalid(field, fresh, `must be between 0 and ${deadlineMax}, inclusive`)];
  }
  if (!isPresent(stored) || numberOf(fresh) <= numberOf(stored)) return [];
  return [fieldError.invalid(field, fresh, "must be less than or equal to previous value")];
}

function validateTolerationsOnlyGrow(fresh: readonly JsonObject[], stored: readonly JsonObject[]): FieldError[] {
  const identity = (toleration: JsonObject): string =>
    JSON.stringify(["key", "operator", "value", "effect"].map((field) => textOf(toleration[field])));
  const known = new Set(fresh.map(identity));
  if (stored.every((toleration) => known.has(identity(toleration)))) return [];
  return [
    fieldError.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"),
  ];
}

function validateGatesOnlyShrink(fresh: readonly JsonObject[], stored: readonly JsonObject[]): FieldError[] {
  const known = new Set(stored.map((gate) => textOf(gate["name"])));
  return validateEach(fresh, (gate, at) => {
    const name = textOf(gate["name"]);
    if (known.has(name)) return [];
    const text = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [fieldError.forbidden(`spec.schedulingGates[${at}].name`, text)];
  });
}
