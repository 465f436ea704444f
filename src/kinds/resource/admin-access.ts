import { fieldError } from "../../api/field-error.ts";
import { type GroupResource, groupResourceText } from "../../api/gvk.ts";
import type { DeviceClaim, ResourceClaim, ResourceClaimTemplate } from "../../api/types/resource-v1.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import type { RuledWrite, WriteRule } from "../../registry/write-rule.ts";

const namespaces = { group: "", resource: "namespaces" };
const label = "resource.kubernetes.io/admin-access";

/** Returns the path of the first request for admin access in what a write adds; undefined if there is none. */
type AccessFinder = (write: RuledWrite) => string | undefined;

const finders: Readonly<Record<string, AccessFinder>> = {
  "resourceclaims.resource.k8s.io": ({ object, old, subresource }) =>
    subresource === "status"
      ? grantedAccess(object as ResourceClaim, old as ResourceClaim | undefined)
      : requestedAccess((object as ResourceClaim).spec.devices, old),
  "resourceclaimtemplates.resource.k8s.io": ({ object, old }) =>
    requestedAccess((object as ResourceClaimTemplate).spec.spec.devices, old),
};

/**
 * Returns the rule for access to devices that others use: only namespaces with a label may ask for it, because only
 * administrators can set labels of namespaces.
 * @returns undefined for a resource that cannot ask
 */
export function adminAccessRule(resource: GroupResource, lookup: ObjectLookup): WriteRule | undefined {
  const find = finders[groupResourceText(resource)];
  if (find === undefined) return undefined;
  return (write) => {
    const path = find(write);
    if (path === undefined || mayAsk(lookup, write.namespace)) return [];
    const text = `admin access to devices requires the \`${label}: true\` label on the containing namespace`;
    return [fieldError.forbidden(path, text)];
  };
}

function mayAsk(lookup: ObjectLookup, namespace: string): boolean {
  return lookup.get(namespaces, "", namespace)?.metadata.labels?.[label] === "true";
}

/** The spec of a stored claim never changes. Upstream's paths leave out the levels around the claim. */
function requestedAccess(claim: DeviceClaim | undefined, old: object | undefined): string | undefined {
  if (old !== undefined) return undefined;
  const at = (claim?.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  return at === -1 ? undefined : `spec.devices.requests[${at}].adminAccess`;
}

/** Access that was granted once stays, as the whole allocation does. */
function grantedAccess(claim: ResourceClaim, old: ResourceClaim | undefined): string | undefined {
  if (old !== undefined && accessResult(old) !== -1) return undefined;
  const at = accessResult(claim);
  return at === -1 ? undefined : `status.allocation.devices.results[${at}].adminAccess`;
}

function accessResult({ status }: ResourceClaim): number {
  return (status?.allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true);
}
