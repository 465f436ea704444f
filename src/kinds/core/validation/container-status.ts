import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { ContainerStatus, PodSpec, ResourceHealth } from "../../../api/types/core-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import type { AnyContainer } from "./placed-container.ts";
import { validateId } from "./security-context.ts";

const healthValues = ["Healthy", "Unhealthy", "Unknown"];

/** Validates the user that each container runs as, which only Linux reports as numbers. */
export function validateUsers(statuses: readonly ContainerStatus[], { os }: PodSpec, field: string): FieldError[] {
  const isWindows = os?.name === "windows";
  return validateEach(statuses, ({ user }, at) => {
    const linux = user?.linux;
    const item = `${field}[${at}].linux`;
    if (linux === undefined) return [];
    if (isWindows) return [fieldError.forbidden(item, "cannot be set for a windows pod")];
    return [
      ...validateId(linux.uid, `${item}.uid`),
      ...validateId(linux.gid, `${item}.gid`),
      ...validateEach(linux.supplementalGroups ?? [], (id, index) =>
        validateId(id, `${item}.supplementalGroups[${index}]`),
      ),
    ];
  });
}

/**
 * Validates the health of the devices that containers have. Each must have been requested, and none may be listed
 * twice.
 */
export function validateAllocated(
  statuses: readonly ContainerStatus[],
  containers: readonly AnyContainer[],
  field: string,
): FieldError[] {
  const byName = new Map(containers.map((container) => [container.name, container]));
  return validateEach(statuses, ({ name, allocatedResourcesStatus: list = [] }, at) => {
    const item = `${field}[${at}].allocatedResourcesStatus`;
    if (list.length > 0 && field.endsWith("ephemeralContainerStatuses")) {
      return [fieldError.forbidden(item, "must not be specified in container status")];
    }
    const container = byName.get(name);
    const asked = container === undefined ? undefined : askedFor(container);
    return validateEach(list, (allocated, index) => [
      ...(asked === undefined ? [] : validateAskedFor(allocated.name, asked, `${item}[${index}].name`)),
      ...validateHealth(allocated.resources ?? [], `${item}[${index}].resources`),
    ]);
  });
}

/** Returns the resources that a container requests, and its claims: `claim:<name>` or `claim:<name>/<request>`. */
function askedFor({ resources = {} }: AnyContainer): ReadonlySet<string> {
  const { claims = [], requests = {} } = resources;
  const names = claims.map(({ name, request = "" }) => `claim:${name}${request === "" ? "" : `/${request}`}`);
  return new Set([...Object.keys(requests), ...names]);
}

function validateAskedFor(name: string, asked: ReadonlySet<string>, field: string): FieldError[] {
  if (asked.has(name)) return [];
  if (!name.startsWith("claim:")) {
    return [fieldError.invalid(field, name, "must match one of the container's resource requests")];
  }
  const text =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  return [fieldError.invalid(field, name, text)];
}

function validateHealth(resources: readonly ResourceHealth[], field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(resources, ({ health = "", resourceID: id }, at) => {
    const errors: FieldError[] = [];
    if (!healthValues.includes(health)) {
      errors.push(fieldError.notSupported(`${field}[${at}].health`, health, healthValues));
    }
    if (seen.has(id)) errors.push(fieldError.duplicate(`${field}[${at}].resourceID`, id));
    seen.add(id);
    return errors;
  });
}
