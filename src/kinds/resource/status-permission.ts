import type { ResourceAttributes } from "../../access/authorization/attributes.ts";
import type { Authorizer } from "../../access/authorization/authorizer.ts";
import { forbiddenError } from "../../access/authorization/forbidden.ts";
import { nodeNameExtra, serviceAccountOf } from "../../access/authorization/user-names.ts";
import { isDnsSubdomain } from "../../api/dns-name.ts";
import { type FieldError, fieldError } from "../../api/field-error.ts";
import { type GroupResource, groupResourceText } from "../../api/gvk.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { AllocationResult, ResourceClaim } from "../../api/types/resource-v1.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { RuledWrite, WriteRule } from "../../registry/write-rule.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { deviceKey } from "./device-key.ts";

export interface StatusPermissionParts {
  readonly authorizer: Authorizer;
  /** Whether drivers may report on devices in claims. */
  readonly hasDeviceStatus: boolean;
}

type Status = NonNullable<ResourceClaim["status"]>;

/** A permission that is required in addition to the request's own. */
type Needed = Pick<ResourceAttributes, "verb" | "subresource" | "namespace" | "name">;

/**
 * Returns the rule for the status of claims. Permission to update the status is not enough to change an allocation, which
 * needs `resourceclaims/binding` in the whole cluster, or the reports of a driver, which need `resourceclaims/driver` for
 * that driver. The latter may be limited to the node of the writer.
 * @returns undefined for other resources
 */
export function statusPermissionRule(resource: GroupResource, parts: StatusPermissionParts): WriteRule | undefined {
  if (groupResourceText(resource) !== "resourceclaims.resource.k8s.io") return undefined;
  return (write) => {
    const { object, old, subresource, verb } = write;
    // The server's own writes have no verb and need no permission.
    if (subresource !== "status" || old === undefined || verb === undefined) return [];
    const [status, stored] = [statusOf(object), statusOf(old)];
    const binds = changesBinding(status, stored);
    const drivers = parts.hasDeviceStatus && status.allocation !== undefined ? changedDrivers(status, stored) : [];
    if (!binds && drivers.length === 0) return [];
    return missingPermissions(parts.authorizer, { write, verb, status, binds, drivers });
  };
}

function statusOf(object: object): Status {
  return (object as ResourceClaim).status ?? {};
}

function changesBinding(status: Status, stored: Status): boolean {
  return (
    !equalJson(json(status.allocation), json(stored.allocation)) ||
    !equalJson(json(status.reservedFor ?? []), json(stored.reservedFor ?? []))
  );
}

/** Returns the drivers of the reports that were added, changed or removed, in order. */
function changedDrivers({ devices = [] }: Status, { devices: before = [] }: Status): string[] {
  const left = new Map(before.map((device) => [deviceKey(device), device]));
  const drivers = new Set<string>();
  for (const device of devices) {
    const key = deviceKey(device);
    if (!equalJson(json(left.get(key)), json(device))) drivers.add(device.driver);
    left.delete(key);
  }
  for (const { driver } of left.values()) drivers.add(driver);
  return [...drivers].toSorted();
}

interface StatusChange {
  readonly write: RuledWrite;
  readonly verb: string;
  readonly status: Status;
  readonly binds: boolean;
  readonly drivers: readonly string[];
}

async function missingPermissions(authorizer: Authorizer, change: StatusChange): Promise<FieldError[]> {
  const { write, verb, status, binds, drivers } = change;
  const errors: FieldError[] = [];
  if (binds) {
    const refusal = await refusalOf(authorizer, write, { verb, subresource: "binding", namespace: "", name: "" });
    const needed = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`;
    if (refusal !== undefined) errors.push(fieldError.forbidden("status.allocation", `${needed}: ${refusal}`));
  }
  const modes = isOnNode(write.user, allocatedNode(status.allocation))
    ? ["associated-node", "arbitrary-node"]
    : ["arbitrary-node"];
  const verbs = modes.map((mode) => `${mode}:${verb}`);
  const needed = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(" ")}]" permission`;
  for (const driver of drivers) {
    const refusal = await driverRefusal(authorizer, write, verbs, driver);
    if (refusal !== undefined) errors.push(fieldError.forbidden("status.devices", `${needed}: ${refusal}`));
  }
  return errors;
}

/** Returns the refusal of the first verb if none of them is allowed. */
async function driverRefusal(
  authorizer: Authorizer,
  write: RuledWrite,
  verbs: readonly string[],
  driver: string,
): Promise<string | undefined> {
  let first: string | undefined;
  for (const verb of verbs) {
    const { namespace } = write;
    const refusal = await refusalOf(authorizer, write, { verb, subresource: "driver", namespace, name: driver });
    if (refusal === undefined) return undefined;
    first ??= refusal;
  }
  return first;
}

async function refusalOf(
  authorizer: Authorizer,
  { user, version }: RuledWrite,
  needed: Needed,
): Promise<string | undefined> {
  const attributes = {
    kind: "resource",
    group: "resource.k8s.io",
    version,
    resource: "resourceclaims",
    ...needed,
  } as const;
  try {
    const { kind, reason } = await authorizer.authorize(user, attributes);
    return kind === "allow" ? undefined : forbiddenError(user, attributes, reason).message;
  } catch (error) {
    return forbiddenError(user, attributes, thrownText(error)).message;
  }
}

/** Returns the only node of the allocation; undefined if it is for another set of nodes. */
function allocatedNode(allocation: AllocationResult | undefined): string | undefined {
  const [term, ...otherTerms] = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const [field, ...otherFields] = term?.matchFields ?? [];
  if (field === undefined || (term?.matchExpressions ?? []).length > 0) return undefined;
  if (otherTerms.length > 0 || otherFields.length > 0) return undefined;
  const { key, operator, values = [] } = field;
  return key === "metadata.name" && operator === "In" && values.length === 1 ? values[0] : undefined;
}

/** Reports whether the user is a service account whose token is bound to the node. */
function isOnNode(user: UserInfo, node: string | undefined): boolean {
  if (node === undefined || serviceAccountOf(user.name) === undefined) return false;
  const nodes = user.extra.get(nodeNameExtra) ?? [];
  return nodes.length === 1 && nodes[0] === node && isDnsSubdomain(node);
}

function json(value: object | undefined): JsonValue | undefined {
  return value as JsonObject | undefined;
}
