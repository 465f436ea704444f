import { status } from "../api/status.ts";
import { pinnedName } from "./field-selector-name.ts";
import {
  type Query,
  queryFlag,
  queryValue,
  type RequestInfo,
  type ResourceRequest,
  type Verb,
} from "../request/request-info.ts";

/** More parameters than this are refused: no client sends as many, and each costs memory. */
export const maxQueryParameters = 1000;
/** More path segments than this are refused. */
const maxPathSegments = 256;

/**
 * Parses method and byte-exact request target into the one value that authorization, dispatch and storage keys use.
 * Every segment is decoded once. A path that could be read in two ways (`.`, `..`, empty segments, an encoded slash,
 * backslashes, control characters) is refused; one trailing slash of a resource path is ignored.
 * A path below a resource that no handler could serve is a non-resource request: it is authorized as such and ends as 404.
 * @throws StatusError 400 for a malformed target, 405 for a method that a resource path does not have
 */
export function parseRequestInfo(method: string, rawTarget: string): RequestInfo {
  refuseStrayBytes(rawTarget);
  const mark = rawTarget.indexOf("?");
  const rawPath = mark === -1 ? rawTarget : rawTarget.slice(0, mark);
  const query = mark === -1 ? emptyQuery : parseQuery(rawTarget.slice(mark + 1));
  const segments = parsePath(rawPath);
  const path = rawPath.includes("%") ? `/${segments.join("/")}` : rawPath;
  const parts = segments.at(-1) === "" ? segments.slice(0, -1) : segments;
  return parseResource(method, path, parts, query) ?? { kind: "nonResource", verb: method.toLowerCase(), path, query };
}

/** An exchange holds this value until its target is parsed, and keeps it when that fails. */
export const unparsedRequest: RequestInfo = { kind: "nonResource", verb: "", path: "", query: new Map() };

const emptyQuery: Query = new Map();

function refuseStrayBytes(rawTarget: string): void {
  if (rawTarget.charCodeAt(0) !== 0x2f) throw status.badRequest("the request target has to start with a slash");
  for (let at = 0; at < rawTarget.length; at++) {
    const code = rawTarget.charCodeAt(at);
    if (code <= 0x20 || code >= 0x7f || code === 0x23 || code === 0x5c) {
      throw status.badRequest("the request target contains a character that has to be percent-encoded");
    }
  }
}

function parsePath(rawPath: string): string[] {
  const segments = rawPath.slice(1).split("/");
  if (segments.length > maxPathSegments) throw status.badRequest("the request path has too many segments");
  const last = segments.length - 1;
  for (let at = 0; at <= last; at++) {
    const raw = segments[at] as string;
    if (raw === "" && at !== last) throw status.badRequest("the request path contains an empty segment");
    const segment = raw.includes("%") ? decodeSegment(raw) : raw;
    if (segment === "." || segment === "..") {
      throw status.badRequest(`the request path may not contain the segment "${segment}"`);
    }
    segments[at] = segment;
  }
  return segments;
}

/** Decoding must not bring back what the raw target may not contain. */
function decodeSegment(raw: string): string {
  const segment = decode(raw);
  for (let at = 0; at < segment.length; at++) {
    const code = segment.charCodeAt(at);
    if (code < 0x20 || code === 0x7f || code === 0x2f || code === 0x25 || code === 0x5c) {
      throw status.badRequest(
        "a segment of the request path contains an encoded slash, percent sign, backslash or control character",
      );
    }
  }
  return segment;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw status.badRequest("the request target contains an invalid percent-encoding");
  }
}

function parseQuery(raw: string): Query {
  if (raw === "") return emptyQuery;
  const pairs = raw.split("&", maxQueryParameters + 1);
  if (pairs.length > maxQueryParameters) throw status.badRequest(`more than ${maxQueryParameters} query parameters`);
  const query = new Map<string, string[]>();
  for (const pair of pairs) {
    // A malformed pair is left out, as upstream's parser does.
    if (pair === "" || pair.includes(";") || !isDecodable(pair)) continue;
    const mark = pair.indexOf("=");
    const name = decodeQuery(mark === -1 ? pair : pair.slice(0, mark));
    const value = mark === -1 ? "" : decodeQuery(pair.slice(mark + 1));
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else values.push(value);
  }
  return query;
}

function isDecodable(text: string): boolean {
  if (!text.includes("%")) return true;
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function decodeQuery(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decode(spaced) : spaced;
}

const namespaceSubresources = new Set(["status", "finalize"]);

function parseResource(
  method: string,
  path: string,
  parts: readonly string[],
  query: Query,
): ResourceRequest | undefined {
  const [prefix] = parts;
  if (prefix !== "api" && prefix !== "apis") return undefined;
  const atVersion = prefix === "api" ? 1 : 2;
  let rest = parts.slice(atVersion + 1);
  if (rest.length === 0) return undefined;
  const group = atVersion === 1 ? "" : (parts[1] as string);
  const version = parts[atVersion] as string;

  const verbPrefix = rest[0] === "watch" || rest[0] === "proxy" ? rest[0] : undefined;
  if (verbPrefix !== undefined) {
    rest = rest.slice(1);
    if (rest.length === 0) return undefined;
  }
  let namespace = "";
  if (rest[0] === "namespaces" && rest.length > 1) {
    namespace = rest[1] as string;
    if (rest.length > 2 && !namespaceSubresources.has(rest[2] as string)) rest = rest.slice(2);
  }
  const resource = rest[0] as string;
  const pathName = rest[1] ?? "";
  const subresource = verbPrefix === "proxy" ? "" : (rest[2] ?? "");
  const isBeyond = rest.length > 3 && verbPrefix !== "proxy" && subresource !== "proxy";

  const verb =
    verbPrefix === undefined
      ? verbOf(method, { name: pathName, subresource }, query)
      : prefixedVerb(verbPrefix, method);
  const name = pathName === "" ? selectedName(verb, query) : pathName;
  const nameInPath = pathName !== "";
  const place = { group, version, resource, subresource, namespace, name, nameInPath };
  const form = { ...(verbPrefix === "watch" ? { isWatchPath: true } : {}), ...(isBeyond ? { isBeyond } : {}) };
  return { kind: "resource", verb, path, ...place, ...form, query };
}

function prefixedVerb(prefix: "watch" | "proxy", method: string): Verb {
  if (prefix === "watch" && method !== "GET" && method !== "HEAD") throw status.methodNotAllowed();
  return prefix;
}

function verbOf(method: string, { name, subresource }: { name: string; subresource: string }, query: Query): Verb {
  switch (method) {
    case "GET":
    case "HEAD":
      if (subresource === "" && queryFlag(query, "watch")) return "watch";
      return name === "" ? "list" : "get";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    default:
      throw status.methodNotAllowed();
  }
}

/** Returns the name that the field selector of a list or watch pins, when it could be a path segment. */
function selectedName(verb: Verb, query: Query): string {
  if (verb !== "list" && verb !== "watch") return "";
  const selector = queryValue(query, "fieldSelector");
  const name = selector === "" ? undefined : pinnedName(selector);
  if (name === undefined || name === "." || name === ".." || name.includes("/") || name.includes("%")) return "";
  return name;
}
