import { type StatusError, status } from "../api/status.ts";
import type { UserInfo } from "../authentication/user-info.ts";
import type { RequestInfo } from "../http/request-info.ts";

/** The 403 of a request that no authorizer allowed. `reason` is the authorizer's, "" for none. */
export function forbiddenError(user: UserInfo, info: RequestInfo, reason: string): StatusError {
  const text = escapeMarkup(forbiddenText(user, info));
  const message = reason === "" ? text : `${text}: ${reason}`;
  if (info.kind === "nonResource") return status.forbiddenPath(message);
  return status.forbidden({ group: info.group, resource: info.resource, name: info.name }, message);
}

/** `User "u" cannot get resource "pods" in API group "" in the namespace "ns"` and its variants. */
function forbiddenText(user: UserInfo, info: RequestInfo): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${info.verb}`;
  if (info.kind === "nonResource") return `${who} path ${JSON.stringify(info.path)}`;
  const resource = info.subresource === "" ? info.resource : `${info.resource}/${info.subresource}`;
  const scope = info.namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(info.namespace)}`;
  return `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)} ${scope}`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
