import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { plainDeletion } from "./delete-options.ts";
import type { Registry } from "./registry.ts";
import type { WriteContext } from "./write-context.ts";

/**
 * Deletes exactly the object that was looked at: one that changed or went meanwhile is looked at again, or is gone.
 * @returns whether it is gone, and by this call
 */
export async function removeObject(
  registry: Registry,
  { metadata }: KubeObject,
  context: WriteContext,
): Promise<boolean> {
  const { namespace = "", name = "", uid, resourceVersion } = metadata;
  try {
    const options = { ...plainDeletion, preconditions: { uid, resourceVersion } };
    return (await registry.delete(namespace, name, options, context)).removed;
  } catch (error) {
    if (error instanceof StatusError && (error.code === 404 || error.code === 409)) return false;
    throw error;
  }
}
