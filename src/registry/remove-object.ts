import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { plainDeletion } from "./delete-options.ts";
import type { Registry } from "./registry.ts";
import type { WriteContext } from "./write-context.ts";

/**
 * Deletes an object only if it is still the one that was read.
 * @returns whether this call removed it; false if it has changed or is already gone
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
