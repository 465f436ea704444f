import type { KubeObject, ObjectMeta, OwnerReference } from "../../api/object-meta.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { serviceAccountGroups, serviceAccountUserName } from "../../request/service-account-user.ts";
import { unlessGone } from "../unless-gone.ts";
import type { PropagationPolicy } from "./verdict.ts";

const namespace = "kube-system";
/** The garbage collector's user name, as policies and webhooks know it. */
const context: WriteContext = {
  ...controllerManagerContext,
  user: {
    name: serviceAccountUserName(namespace, "generic-garbage-collector"),
    uid: "",
    groups: [...serviceAccountGroups(namespace), "system:authenticated"],
    extra: new Map(),
  },
};

/** An object in the state on which its verdict is based. */
export interface Target {
  readonly registry: Registry;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Deletes the object, unless it has changed since this version. */
export async function deleteTarget(
  { registry, namespace, name, uid }: Target,
  propagationPolicy: PropagationPolicy,
  resourceVersion: string | undefined,
): Promise<void> {
  const options = { ...plainDeletion, propagationPolicy, preconditions: { uid, resourceVersion } };
  await unlessGone(registry.delete(namespace, name, options, context));
}

/** Removes the references to the given owners. */
export function detachTarget(target: Target, uids: ReadonlySet<string>): Promise<void> {
  return changeOwners(target, (owners) => owners.filter(({ uid }) => !uids.has(uid)));
}

/** Changes all references so that they block no owner. */
export function unblockTarget(target: Target): Promise<void> {
  return changeOwners(target, (owners) =>
    owners.map((owner) => (owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner)),
  );
}

/** Removes a finalizer. Removing the last one deletes the object. */
export function releaseTarget(target: Target, finalizer: string): Promise<void> {
  return change(target, ({ finalizers = [], ...rest }) => ({
    ...rest,
    finalizers: finalizers.filter((held) => held !== finalizer),
  }));
}

function changeOwners(target: Target, next: (owners: OwnerReference[]) => OwnerReference[]): Promise<void> {
  return change(target, ({ ownerReferences = [], ...rest }) => {
    const owners = next(ownerReferences);
    return owners.length === 0 ? rest : { ...rest, ownerReferences: owners };
  });
}

/** Changes the object if it still has this uid. */
async function change(
  { registry, namespace, name, uid }: Target,
  next: (metadata: ObjectMeta) => ObjectMeta,
): Promise<void> {
  const transform = (old: KubeObject): KubeObject =>
    old.metadata.uid === uid ? { ...old, metadata: next(old.metadata) } : old;
  await unlessGone(registry.update(namespace, name, transform, context, { reapplies: true }));
}
