import type { UserInfo } from "../../../request/user-info.ts";

const nodePrefix = "system:node:";
const nodesGroup = "system:nodes";

/** The node that a request comes from; "" for one that does not say which, undefined for everybody else. */
export function nodeIdentity({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(nodePrefix) || !groups.includes(nodesGroup)) return undefined;
  return name.slice(nodePrefix.length);
}
