import type { JsonObject } from "../../api/json.ts";
import { StatusError } from "../../api/status.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { reconciliation } from "./node-status.ts";

export const nodeType: ResourceType<Node> = { group: "", version: "v1", resource: "nodes" };

/**
 * Creates the Node. If it exists, gives it the labels and annotations of the new one, and leaves taints and other parts
 * of its spec alone.
 */
export async function registerNode(
  client: Pick<Client, "create" | "get" | "patch">,
  wanted: Node,
  timeoutMs: number,
): Promise<Node> {
  try {
    return await client.create(nodeType, wanted, { timeoutMs });
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== "AlreadyExists") throw error;
  }
  const { name = "" } = wanted.metadata;
  const existing = await client.get(nodeType, { name }, { timeoutMs });
  const changes = reconciliation(existing, wanted);
  if (changes === undefined) return existing;
  // Nodes may change their metadata only together with their status.
  const document = { metadata: changes } as unknown as JsonObject;
  return client.patch(nodeType, { name, subresource: "status" }, { kind: "strategic", document }, { timeoutMs });
}
