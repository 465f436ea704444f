import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validateId } from "./security-context.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const healthValues = ["Healthy", "Unhealthy", "Unknown"];

/** The user that each container runs as, which only Linux reports as numbers. */
export function validateUsers(statuses: JsonValue | undefined, spec: JsonObject, field: string): FieldError[] {
  const isWindows = fieldsOf(spec["os"])["name"] === "windows";
  return validateEach(objectsOf(statuses), (container, at) => {
    const linux = fieldsOf(container["user"])["linux"];
    const item = `${field}[${at}].linux`;
    if (!isPresent(linux)) return [];
    if (isWindows) return [fieldError.forbidden(item, "cannot be set for a windows pod")];
    const user = fieldsOf(linux);
    const groups = Array.isArray(user["supplementalGroups"]) ? user["supplementalGroups"] : [];
    return [
      ...["uid", "gid"].flatMap((name) => validateId(user[name], `${item}.${name}`)),
      ...validateEach(groups, (id, index) => validateId(id, `${item}.supplementalGroups[${index}]`)),
    ];
  });
}

/** Health of the devices that containers have: each was asked for, and none is listed twice. */
export function validateAllocated(
  statuses: JsonValue | undefined,
  containers: JsonValue | undefined,
  field: string,
): FieldError[] {
  const byName = new Map(objectsOf(containers).map((container) => [textOf(container["name"]), container]));
  return validateEach(objectsOf(statuses), (status, at) => {
    const list = objectsOf(status["allocatedResourcesStatus"]);
    const item = `${field}[${at}].allocatedResourcesStatus`;
    if (list.length > 0 && field.endsWith("ephemeralContainerStatuses")) {
      return [fieldError.forbidden(item, "must not be specified in container status")];
    }
    const container = byName.get(textOf(status["name"]));
    const asked = container === undefined ? undefined : askedFor(container);
    return validateEach(list, (allocated, index) => [
      ...(asked === undefined ? [] : validateAskedFor(textOf(allocated["name"]), asked, `${item}[${index}].name`)),
      ...validateHealth(allocated["resources"], `${item}[${index}].resources`),
    ]);
  });
}

/** Names of the resources that a container requests, and of its claims: `claim:<name>` or `claim:<name>/<request>`. */
function askedFor(container: JsonObject): ReadonlySet<string> {
  const { claims, requests } = fieldsOf(container["resources"]);
  const names = objectsOf(claims).map((claim) => {
    const request = textOf(claim["request"]);
    return `claim:${textOf(claim["name"])}${request === "" ? "" : `/${request}`}`;
  });
  return new Set([...Object.keys(fieldsOf(requests)), ...names]);
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

function validateHealth(resources: JsonValue | undefined, field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(objectsOf(resources), (resource, at) => {
    const [health, id] = [textOf(resource["health"]), textOf(resource["resourceID"])];
    const errors: FieldError[] = [];
    if (!healthValues.includes(health)) {
      errors.push(fieldError.notSupported(`${field}[${at}].health`, health, healthValues));
    }
    if (seen.has(id)) errors.push(fieldError.duplicate(`${field}[${at}].resourceID`, id));
    seen.add(id);
    return errors;
  });
}
