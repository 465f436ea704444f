import { type FieldError, fieldError } from "../../api/field-error.ts";
import { cloneJson, equalJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf } from "./key-values.ts";
import { objectsOf, textOf } from "./pod-fields.ts";

const forbiddenText =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Almost all of a pod's spec is fixed; see the message for what is not. */
export function validatePodUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(pod["spec"]), fieldsOf(old["spec"])];
  const counts = validateCounts(fresh, stored);
  if (counts.length > 0) return counts;
  const errors = [
    ...validateImages(fresh),
    ...validateDeadline(fresh["activeDeadlineSeconds"], stored["activeDeadlineSeconds"]),
    ...validateTolerationsOnlyGrow(objectsOf(fresh["tolerations"]), objectsOf(stored["tolerations"])),
    ...validateGatesOnlyShrink(objectsOf(fresh["schedulingGates"]), objectsOf(stored["schedulingGates"])),
  ];
  if (!equalJson(asBefore(fresh, stored), stored)) errors.push(fieldError.forbidden("spec", forbiddenText));
  return errors;
}

/** The new spec with every part that may change put back to what it was. */
function asBefore(fresh: JsonObject, stored: JsonObject): JsonObject {
  const spec = cloneJson(fresh);
  for (const list of ["containers", "initContainers"]) {
    const old = objectsOf(stored[list]);
    for (const [at, container] of objectsOf(spec[list]).entries()) restore(container, old[at] ?? {}, "image");
  }
  for (const field of ["activeDeadlineSeconds", "tolerations", "schedulingGates"]) restore(spec, stored, field);
  if (isGated(stored)) restoreGated(spec, stored);
  const [grace, oldGrace] = [spec["terminationGracePeriodSeconds"], stored["terminationGracePeriodSeconds"]];
  if (grace === 1 && typeof oldGrace === "number" && oldGrace < 0)
    restore(spec, stored, "terminationGracePeriodSeconds");
  return spec;
}

/** A pod that waits for its gates may narrow where it runs. */
function restoreGated(spec: JsonObject, stored: JsonObject): void {
  const [selector, oldSelector] = [fieldsOf(spec["nodeSelector"]), fieldsOf(stored["nodeSelector"])];
  if (Object.keys(oldSelector).every((key) => selector[key] === oldSelector[key]))
    restore(spec, stored, "nodeSelector");
  if (isNarrower(spec["affinity"], stored["affinity"])) restore(spec, stored, "affinity");
}

/** Node affinity may be set where there was none; its preferred terms are free, its required terms may gain expressions. */
function isNarrower(fresh: JsonValue | undefined, stored: JsonValue | undefined): boolean {
  const [affinity, oldAffinity] = [cloneJson(fieldsOf(fresh)), cloneJson(fieldsOf(stored))];
  const [node, oldNode] = [fieldsOf(affinity["nodeAffinity"]), fieldsOf(oldAffinity["nodeAffinity"])];
  delete affinity["nodeAffinity"];
  delete oldAffinity["nodeAffinity"];
  if (!equalJson(affinity, oldAffinity)) return false;
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  const oldTerms = objectsOf(fieldsOf(oldNode[required])["nodeSelectorTerms"]);
  const terms = objectsOf(fieldsOf(node[required])["nodeSelectorTerms"]);
  if (oldTerms.length === 0) return true;
  return terms.length === oldTerms.length && terms.every((term, at) => hasAllOf(term, oldTerms[at] as JsonObject));
}

function hasAllOf(term: JsonObject, oldTerm: JsonObject): boolean {
  return ["matchExpressions", "matchFields"].every((field) => {
    const expressions = objectsOf(term[field]);
    return objectsOf(oldTerm[field]).every((old, at) => equalJson(expressions[at], old));
  });
}

function restore(target: JsonObject, source: JsonObject, field: string): void {
  const value = source[field];
  if (value === undefined) delete target[field];
  else target[field] = value;
}

function isGated(spec: JsonObject): boolean {
  return objectsOf(spec["schedulingGates"]).length > 0;
}

function validateCounts(fresh: JsonObject, stored: JsonObject): FieldError[] {
  return ["containers", "initContainers"]
    .filter((list) => objectsOf(fresh[list]).length !== objectsOf(stored[list]).length)
    .map((list) => fieldError.forbidden(`spec.${list}`, "pod updates may not add or remove containers"));
}

function validateImages(fresh: JsonObject): FieldError[] {
  return ["containers", "initContainers"].flatMap((list) =>
    objectsOf(fresh[list]).flatMap((container, at) =>
      textOf(container["image"]) === "" ? [fieldError.required(`spec.${list}[${at}].image`)] : [],
    ),
  );
}

function validateDeadline(fresh: JsonValue | undefined, stored: JsonValue | undefined): FieldError[] {
  const field = "spec.activeDeadlineSeconds";
  if (typeof stored !== "number") return [];
  if (typeof fresh !== "number") {
    return [fieldError.invalid(field, null, "must not update from a positive integer to nil value")];
  }
  return fresh <= stored ? [] : [fieldError.invalid(field, fresh, "must be less than or equal to previous value")];
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
  const added = fresh.map((gate) => textOf(gate["name"])).filter((name) => !known.has(name));
  if (added.length === 0) return [];
  return [
    fieldError.forbidden(
      "spec.schedulingGates",
      `only deletion is allowed, but found new scheduling gates '${added.join(", ")}'`,
    ),
  ];
}
