import type { UserInfo } from "../../../request/user-info.ts";

const nodePrefix = "system:node:";
const nodesGroup = "system:nodes";

/** Returns the node of a user, "" for a node without a name, and undefined for any other user. */
export function nodeIdentity({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(nodePrefix) || !groups.includes(nodesGroup)) return undefined;
  return name.slice(nodePrefix.length);
}
