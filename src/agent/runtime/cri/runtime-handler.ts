import { StatusError } from "../../../api/status.ts";
import type { RuntimeClass } from "../../../api/types/node-v1.ts";
import type { Client, ResourceType } from "../../../client/client.ts";
import { thrownText } from "../../../process/thrown-text.ts";

const runtimeClasses: ResourceType<RuntimeClass> = { group: "node.k8s.io", version: "v1", resource: "runtimeclasses" };

/**
 * Returns the handler of the container runtime that a RuntimeClass names.
 * @throws Error with upstream's message
 */
export async function runtimeHandler(client: Pick<Client, "get">, className: string): Promise<string> {
  try {
    return (await client.get(runtimeClasses, { name: className })).handler;
  } catch (error) {
    const isMissing = error instanceof StatusError && error.code === 404;
    if (isMissing) throw new Error(`runtimeclass.node.k8s.io ${JSON.stringify(className)} not found`);
    throw new Error(`failed to lookup RuntimeClass ${className}: ${thrownText(error)}`);
  }
}
