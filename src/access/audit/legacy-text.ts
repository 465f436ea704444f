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
  const text = Object.entries(fields).map(([name, value]) => `${name}=${quoted(value)}`);
  return `${shortTime(event.receivedMs)} AUDIT: ${text.join(" ")}`;
}

function groupsText(groups: readonly string[]): string {
  return groups.map(quoted).join(",");
}

/** Formats RFC 3339 without trailing zeros of the fraction. */
function shortTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.?0+Z$/, "Z");
}

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** Quotes like Go's %q: unprintable characters are escaped. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escaped)}"`;
}

function escaped(character: string): string {
  const known = escapes[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) as number;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code > 0xffff ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
}
