import { type GroupVersion, parseApiVersion } from "../api/gvk.ts";
import { equalJson, type JsonValue } from "../api/json.ts";
import type { KubeObject, OwnerReference } from "../api/object-meta.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import { isResource, refuse } from "./attributes.ts";
import type { Authorize } from "./authorization.ts";

/** Returns the resource of an owner's kind. */
export type ResourceOfKind = (
  gvk: GroupVersion & { kind: string },
) => { resource: string; namespaced: boolean } | undefined;

/**
 * Requires permissions for owner references. An owner decides when the object is deleted, so setting one requires
 * permission to delete the object. Letting the object delay the owner's deletion requires permission to set the owner's
 * finalizers.
 */
export function ownerReferencesPermissionEnforcement(parts: {
  authorize: Authorize;
  resourceOfKind: ResourceOfKind;
}): AdmissionPlugin {
  return {
    name: "OwnerReferencesPermissionEnforcement",
    async validate(attributes) {
      const { object, oldObject, operation } = attributes;
      if (operation === "DELETE" || object === undefined) return;
      // The node agent sets the owner of pods that it runs from files. Another plugin checks that.
      if (isResource(attributes, "", "pods") && attributes.subresource === "status") return;
      if (sameOwners(ownersOf(object), ownersOf(oldObject))) return;
      await checkDelete(attributes, parts.authorize);
      for (const owner of newlyBlocking(object, oldObject)) await checkOwner(attributes, owner, parts);
    },
  };
}

async function checkDelete(attributes: AdmissionAttributes, authorize: Authorize): Promise<void> {
  const { info, operation, namespace, name, subresource, user } = attributes;
  const { group, version, resource } = info;
  const { allowed, reason } = await authorize(user, {
    verb: "delete",
    group,
    version,
    resource,
    subresource,
    namespace,
    // A rule for a name does not apply to an object that is not stored yet.
    name: operation === "CREATE" ? "" : name,
  });
  if (allowed) return;
  throw refuse(attributes, `cannot set an ownerRef on a resource you can't delete: ${reasonText(reason)}`);
}

async function checkOwner(
  attributes: AdmissionAttributes,
  { apiVersion, kind, name }: OwnerReference,
  { authorize, resourceOfKind }: { authorize: Authorize; resourceOfKind: ResourceOfKind },
): Promise<void> {
  const version = parseApiVersion(apiVersion);
  const found = version === undefined ? undefined : resourceOfKind({ ...version, kind });
  if (version === undefined || found === undefined) {
    throw refuse(
      attributes,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
    );
  }
  const namespace = found.namespaced ? attributes.namespace : "";
  const owner = { ...version, resource: found.resource, subresource: "finalizers", namespace, name };
  const { allowed, reason } = await authorize(attributes.user, { ...owner, verb: "update" });
  if (allowed) return;
  throw refuse(
    attributes,
    `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reasonText(reason)}`,
  );
}

/** Formats reason and error like upstream. */
function reasonText(reason: string): string {
  return `${reason}, <nil>`;
}

function ownersOf(object: KubeObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

function sameOwners(owners: readonly OwnerReference[], old: readonly OwnerReference[]): boolean {
  return equalJson(owners as unknown as JsonValue, old as unknown as JsonValue);
}

function newlyBlocking(object: KubeObject, old: KubeObject | undefined): readonly OwnerReference[] {
  const before = new Set(
    ownersOf(old)
      .filter(isBlocking)
      .map(({ uid }) => uid),
  );
  return ownersOf(object).filter((owner) => isBlocking(owner) && !before.has(owner.uid));
}

function isBlocking({ blockOwnerDeletion }: OwnerReference): boolean {
  return blockOwnerDeletion === true;
}
