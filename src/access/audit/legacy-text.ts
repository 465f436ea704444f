import { quoteText } from "../../api/go-literal.ts";
import { type AuditEvent, sourceAddresses, userAgentOf } from "./event.ts";

/** Encodes an event in upstream's format `legacy`: one line with part of the data. */
export function legacyText(event: AuditEvent): string {
  const { user, impersonatedUser, info, request, responseStatus } = event;
  const asGroups = impersonatedUser?.groups ?? [];
  const fields = {
    id: event.auditId,
    stage: event.stage,
    ip: sourceAddresses(request)[0] ?? "<unknown>",
    method: info.verb,
    user: user === undefined || user.name === "" ? "<none>" : user.name,
    groups: user === undefined || user.groups.length === 0 ? "<none>" : groupsText(user.groups),
    as: impersonatedUser?.name ?? "<self>",
    asgroups: asGroups.length === 0 ? "<lookup>" : groupsText(asGroups),
    "user-agent": userAgentOf(request.headers),
    namespace: info.kind === "resource" && info.namespace !== "" ? info.namespace : "<none>",
    uri: request.rawPath,
    response: responseStatus === undefined ? "<deferred>" : String(JSON.parse(responseStatus).code),
  };
  const text = Object.entries(fields).map(([name, value]) => `${name}=${quoteText(value)}`);
  return `${shortTime(event.receivedMs)} AUDIT: ${text.join(" ")}`;
}

function groupsText(groups: readonly string[]): string {
  return groups.map(quoteText).join(",");
}

/** Formats RFC 3339 without trailing zeros of the fraction. */
function shortTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.?0+Z$/, "Z");
}
