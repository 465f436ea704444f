import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type { Container, Pod, PodSpec, ResourceList } from "../../../api/types/core-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { isSidecar } from "./container.ts";
import { mirrorAnnotation } from "./pod-annotations.ts";

const resizable = ["cpu", "memory"];
const lists = ["initContainers", "containers"] as const;
type ContainerList = (typeof lists)[number];
const amounts = ["requests", "limits"] as const;
const noSpec: PodSpec = { containers: null };

/**
 * Validates a change of the cpu and memory of a running pod's containers, which must keep the pod's class of service.
 * @param qosClassOf returns the class of service of a pod's spec
 */
export function validatePodResize(
  pod: Pod,
  old: Pod,
  { qosClassOf }: { readonly qosClassOf: (pod: Pod) => string },
): FieldError[] {
  const unsupported = unsupportedReason(old);
  if (unsupported !== undefined) return [fieldError.forbidden("", unsupported)];
  const { spec: fresh = noSpec } = pod;
  const { spec: stored = noSpec } = old;
  const errors: FieldError[] = [];
  const oldClass = old.status?.qosClass || qosClassOf(old);
  if (oldClass !== qosClassOf(pod)) {
    const { qosClass = "" } = pod.status ?? {};
    errors.push(fieldError.invalid("spec", qosClass, "Pod QOS Class may not change as a result of resizing"));
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

function unsupportedReason({ metadata, spec }: Pod): string | undefined {
  if (Object.hasOwn(metadata.annotations ?? {}, mirrorAnnotation)) return "static pods cannot be resized";
  return spec?.os?.name === "windows" ? "windows pods cannot be resized" : undefined;
}

/** Reports whether the node can resize: its agent then reports the resources of running containers. */
function isNodeAble({ status }: Pod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function validateOrder(fresh: PodSpec, stored: PodSpec, list: ContainerList): FieldError[] {
  const [containers, old] = [fresh[list] ?? [], stored[list] ?? []];
  if (containers.length !== old.length) {
    return [fieldError.forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
  }
  return old.flatMap((container, at) =>
    container.name === containers[at]?.name
      ? []
      : [fieldError.forbidden(`spec.${list}[${at}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function validateNothingRemoved(fresh: PodSpec, stored: PodSpec, list: ContainerList): FieldError[] {
  const containers = fresh[list] ?? [];
  return validateEach(stored[list] ?? [], (old, at) => {
    if (list === "initContainers" && !isSidecar(old)) return [];
    return amounts
      .filter((kind) => {
        const { [kind]: now = {} } = containers[at]?.resources ?? {};
        return Object.keys(old.resources?.[kind] ?? {}).some((name) => !Object.hasOwn(now, name));
      })
      .map((kind) =>
        fieldError.forbidden(`spec.${list}[${at}].resources.${kind}`, `resource ${kind} cannot be removed`),
      );
  });
}

function validateContainersOtherwiseSame(fresh: PodSpec, stored: PodSpec): FieldError[] {
  const old = stored.containers ?? [];
  const changed = (fresh.containers ?? []).some((container, at) => !isResizeOf(container, old[at]));
  return changed ? [fieldError.forbidden("spec", "only cpu and memory resources are mutable")] : [];
}

function validateInitOtherwiseSame(fresh: PodSpec, stored: PodSpec): FieldError[] {
  const old = stored.initContainers ?? [];
  return validateEach(fresh.initContainers ?? [], (container, at) => {
    if (isSidecar(container)) {
      if (isResizeOf(container, old[at])) return [];
      return [fieldError.forbidden("spec", "only cpu and memory resources for sidecar containers are mutable")];
    }
    if (equalJson(container, old[at])) return [];
    return [fieldError.forbidden("spec", "resources for non-sidecar init containers are immutable")];
  });
}

/** Reports whether nothing but cpu and memory differs. */
function isResizeOf(container: Container, old: Container | undefined): boolean {
  return old !== undefined && equalJson(withoutResizable(container), withoutResizable(old));
}

function withoutResizable({ resources, ...container }: Container): Container {
  if (resources === undefined) return container;
  const { requests: _requests, limits: _limits, ...rest } = resources;
  const left = { ...rest };
  for (const kind of amounts) {
    const others: ResourceList = Object.fromEntries(
      Object.entries(resources[kind] ?? {}).filter(([name]) => !resizable.includes(name)),
    );
    if (Object.keys(others).length > 0) Object.assign(left, { [kind]: others });
  }
  return { ...container, resources: left };
}

function withOldContainers(fresh: PodSpec, stored: PodSpec): PodSpec {
  const { containers, initContainers } = stored;
  return { ...fresh, containers, ...(initContainers === undefined ? {} : { initContainers }) };
}
