import type { KubeObject } from "../api/object-meta.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";

/** Reports whether the object is being deleted and still has this finalizer. */
export function isHeldBy(object: KubeObject | undefined, finalizer: string): boolean {
  return object?.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).includes(finalizer);
}

/** Removes one finalizer. */
export async function release(registry: Registry, namespace: string, name: string, finalizer: string): Promise<void> {
  const without = (old: KubeObject): KubeObject => ({
    ...old,
    metadata: { ...old.metadata, finalizers: (old.metadata.finalizers ?? []).filter((held) => held !== finalizer) },
  });
  await registry.update(namespace, name, without, serverContext, { reapplies: true });
}
