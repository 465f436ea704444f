import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { cloneJson, equalJson, type JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { isSidecar } from "./container.ts";
import { isPresent, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { mirrorAnnotation } from "./pod-annotations.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const resizable = ["cpu", "memory"];
const lists = ["initContainers", "containers"] as const;

/**
 * What a running pod's containers ask for can change: cpu and memory, never so that the pod gets another class of service.
 * @param qosClassOf class of service that a pod's spec stands for
 */
export function validatePodResize(
  pod: KubeObject,
  old: KubeObject,
  { qosClassOf }: { readonly qosClassOf: (pod: KubeObject) => string },
): FieldError[] {
  const unsupported = unsupportedReason(old);
  if (unsupported !== undefined) return [fieldError.forbidden("", unsupported)];
  const [fresh, stored] = [objectOf(pod["spec"]), objectOf(old["spec"])];
  const errors: FieldError[] = [];
  const oldClass = textOf(objectOf(old["status"])["qosClass"]) || qosClassOf(old);
  if (oldClass !== qosClassOf(pod)) {
    const shown = textOf(objectOf(pod["status"])["qosClass"]);
    errors.push(fieldError.invalid("spec", shown, "Pod QOS Class may not change as a result of resizing"));
  }
  if (!isNodeAble(old)) errors.push(fieldError.forbidden("spec", "Pod running on node without support for resize"));
  const order = lists.toReversed().flatMap((list) => validateOrder(fresh, stored, list));
  if (order.length > 0) return [...errors, ...order];
  for (const list of lists) errors.push(...validateNothingRemoved(fresh, stored, list));
  errors.push(...validateContainersOtherwiseSame(fresh, stored), ...validateInitOtherwiseSame(fresh, stored));
  if (errors.length > 0) return errors;
  return equalJson(withOldContainers(fresh, stored), stored)
    ? []
    : [fieldError.forbidden("spec", "only cpu and memory resources are mutable")];
}

function unsupportedReason(old: KubeObject): string | undefined {
  if (Object.hasOwn(old.metadata.annotations ?? {}, mirrorAnnotation)) return "static pods cannot be resized";
  const isWindows = objectOf(objectOf(old["spec"])["os"])["name"] === "windows";
  return isWindows ? "windows pods cannot be resized" : undefined;
}

/** A node agent that can resize tells what its running containers have. */
function isNodeAble(old: KubeObject): boolean {
  const running = objectsOf(objectOf(old["status"])["containerStatuses"]).find((container) =>
    isPresent(objectOf(container["state"])["running"]),
  );
  return running === undefined || isPresent(running["resources"]);
}

function validateOrder(fresh: JsonObject, stored: JsonObject, list: string): FieldError[] {
  const [containers, old] = [objectsOf(fresh[list]), objectsOf(stored[list])];
  if (containers.length !== old.length) {
    return [fieldError.forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
  }
  return old.flatMap((container, at) =>
    container["name"] === containers[at]?.["name"]
      ? []
      : [fieldError.forbidden(`spec.${list}[${at}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function validateNothingRemoved(fresh: JsonObject, stored: JsonObject, list: string): FieldError[] {
  const containers = objectsOf(fresh[list]);
  return validateEach(objectsOf(stored[list]), (old, at) => {
    if (list === "initContainers" && !isSidecar(old)) return [];
    const [now, before] = [objectOf(containers[at]?.["resources"]), objectOf(old["resources"])];
    return ["requests", "limits"].flatMap((kind) => {
      const kept = Object.keys(objectOf(before[kind])).every((name) => Object.hasOwn(objectOf(now[kind]), name));
      return kept
        ? []
        : [fieldError.forbidden(`spec.${list}[${at}].resources.${kind}`, `resource ${kind} cannot be removed`)];
    });
  });
}

function validateContainersOtherwiseSame(fresh: JsonObject, stored: JsonObject): FieldError[] {
  const old = objectsOf(stored["containers"]);
  const changed = objectsOf(fresh["containers"]).some((container, at) => !isResizeOf(container, old[at] ?? {}));
  return changed ? [fieldError.forbidden("spec", "only cpu and memory resources are mutable")] : [];
}

function validateInitOtherwiseSame(fresh: JsonObject, stored: JsonObject): FieldError[] {
  const old = objectsOf(stored["initContainers"]);
  return validateEach(objectsOf(fresh["initContainers"]), (container, at) => {
    if (isSidecar(container)) {
      if (isResizeOf(container, old[at] ?? {})) return [];
      return [fieldError.forbidden("spec", "only cpu and memory resources for sidecar containers are mutable")];
    }
    if (equalJson(container, old[at])) return [];
    return [fieldError.forbidden("spec", "resources for non-sidecar init containers are immutable")];
  });
}

/** Nothing but cpu and memory differs. */
function isResizeOf(container: JsonObject, old: JsonObject): boolean {
  const without = (value: JsonObject): JsonObject => {
    const copy = cloneJson(value);
    const resources = objectOf(copy["resources"]);
    for (const kind of ["requests", "limits"]) {
      for (const name of resizable) delete objectOf(resources[kind])[name];
      if (Object.keys(objectOf(resources[kind])).length === 0) delete resources[kind];
    }
    return copy;
  };
  return equalJson(without(container), without(old));
}

function withOldContainers(fresh: JsonObject, stored: JsonObject): JsonObject {
  const spec = { ...fresh };
  for (const list of lists) if (stored[list] !== undefined) spec[list] = stored[list];
  return spec;
}
