import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Registry, WriteContext } from "../registry/registry.ts";
import type { DeleteOptions } from "../registry/strategy.ts";

/** Deletes exactly the object that was looked at: one that changed or went meanwhile is looked at again, or is gone. */
export async function removeObject(registry: Registry, { metadata }: KubeObject, context: WriteContext): Promise<void> {
  const { namespace = "", name = "", uid, resourceVersion } = metadata;
  const options: DeleteOptions = {
    gracePeriodSeconds: undefined,
    propagationPolicy: undefined,
    orphanDependents: undefined,
    preconditions: { uid, resourceVersion },
    dryRun: false,
  };
  try {
    await registry.delete(namespace, name, options, context);
  } catch (error) {
    if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
  }
}
