import { header, headerValues, type IncomingRequest } from "../../request/exchange.ts";
import { forwardedHeaders, returnedHeaders } from "../connect/backend.ts";

/** Headers by which a backend would allow pages of other sites to read its answers through us. */
const crossOriginHeaders: ReadonlySet<string> = new Set([
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
]);

/** Headers that this server sets itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  "audit-id",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-uri",
]);

export interface ProxiedHeaderOptions {
  readonly auditId: string;
  /** Our name in Via, by which a looping request is recognised. */
  readonly via: string;
  /** Address of the backend; undefined for a request to upgrade, which upstream passes on with less. */
  readonly host?: string | undefined;
}

/** Returns the headers of a client's request for the server of an APIService, without any identity. */
export function proxiedHeaders(
  request: IncomingRequest,
  { auditId, via, host }: ProxiedHeaderOptions,
): [string, string][] {
  const named = connectionNames(request);
  const kept = forwardedHeaders(request.headers).filter(([name]) => !ownHeaders.has(name) && !named.has(name));
  return [
    ...kept,
    ...headerValues(request, "cookie").map((value): [string, string] => ["cookie", value]),
    ["x-forwarded-for", [...headerValues(request, "x-forwarded-for"), request.remoteAddress].join(", ")],
    ...(host === undefined ? [] : forwardedTarget(request, host)),
    ["audit-id", auditId],
    ["via", [...headerValues(request, "via"), `1.1 ${via}`].join(", ")],
  ];
}

function forwardedTarget({ rawPath }: IncomingRequest, host: string): [string, string][] {
  return [
    ["x-forwarded-host", host],
    ["x-forwarded-proto", "https"],
    ["x-forwarded-uri", rawPath.split("?", 1)[0] ?? ""],
  ];
}

/** Reports whether this server has already forwarded the request. */
export function isReturned(request: IncomingRequest, via: string): boolean {
  return headerValues(request, "via").some((value) => value.split(",").some((one) => one.trim() === `1.1 ${via}`));
}

/** Returns the headers of a backend's answer for the client. The audit id is that of this server. */
export function answeredHeaders(headers: readonly [string, string][]): [string, string][] {
  return returnedHeaders(headers).filter(([name]) => name !== "audit-id" && !crossOriginHeaders.has(name));
}

/** Returns the length that the client declared, on which the backend may rely; none without a body. */
export function declaredLength(request: IncomingRequest): [string, string][] {
  const length = header(request, "content-length");
  return length === undefined ? [] : [["content-length", length]];
}

/** Returns the headers that the client sent only for this connection. */
function connectionNames(request: IncomingRequest): ReadonlySet<string> {
  const names = headerValues(request, "connection").flatMap((value) => value.toLowerCase().split(","));
  return new Set(names.map((name) => name.trim()));
}
