import type { KubeObject } from "../api/object-meta.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";
import { unlessGone } from "./unless-gone.ts";

/** Reports whether the object is being deleted and still has this finalizer. */
export function isHeldBy(object: KubeObject | undefined, finalizer: string): boolean {
  return object?.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).includes(finalizer);
}

/** Reports whether the object is not being deleted and lacks the finalizer that will hold it then. */
export function lacksFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.deletionTimestamp === undefined && !(metadata.finalizers ?? []).includes(finalizer);
}

/** Adds one finalizer, unless the object is being deleted or is gone. */
export async function hold(registry: Registry, namespace: string, name: string, finalizer: string): Promise<void> {
  const held = (old: KubeObject): KubeObject =>
    lacksFinalizer(old, finalizer)
      ? { ...old, metadata: { ...old.metadata, finalizers: [...(old.metadata.finalizers ?? []), finalizer] } }
      : old;
  await unlessGone(registry.update(namespace, name, held, serverContext, { reapplies: true }));
}

/** Removes one finalizer. */
export async function release(registry: Registry, namespace: string, name: string, finalizer: string): Promise<void> {
  const without = (old: KubeObject): KubeObject => ({
    ...old,
    metadata: { ...old.metadata, finalizers: (old.metadata.finalizers ?? []).filter((held) => held !== finalizer) },
  });
  await registry.update(namespace, name, without, serverContext, { reapplies: true });
}
