import { type StatusError, status } from "../../api/status.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { type Attributes, resourceText } from "./attributes.ts";

/** Returns the 403 for a request that no authorizer allowed. `reason` is the authorizer's, or "". */
export function forbiddenError(user: UserInfo, attributes: Attributes, reason: string): StatusError {
  const text = escapeMarkup(forbiddenText(user, attributes));
  const message = reason === "" ? text : `${text}: ${reason}`;
  if (attributes.kind === "nonResource") return status.forbiddenPath(message);
  return status.forbidden({ group: attributes.group, resource: attributes.resource, name: attributes.name }, message);
}

/** Formats `User "u" cannot get resource "pods" in API group "" in the namespace "ns"` and its variants. */
function forbiddenText(user: UserInfo, attributes: Attributes): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${attributes.verb}`;
  if (attributes.kind === "nonResource") return `${who} path ${JSON.stringify(attributes.path)}`;
  const resource = resourceText(attributes);
  const scope =
    attributes.namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(attributes.namespace)}`;
  return `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(attributes.group)} ${scope}`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
