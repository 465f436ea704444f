import { status, TextError } from "../api/status.ts";
import {
  type Query,
  queryFlag,
  queryValue,
  type RequestInfo,
  type ResourceRequest,
  type Verb,
} from "../request/request-info.ts";
import { pinnedName } from "./field-selector-name.ts";

/** Maximum number of query parameters. More are refused, because each costs memory. */
export const maxQueryParameters = 1000;
/** Maximum number of path segments. More are refused. */
const maxPathSegments = 256;

/**
 * Parses method and byte-exact request target into the one value that authorization, dispatch and storage keys use. The
 * path is decoded once and then split. An ambiguous path (`.`, `..`, empty segments, an encoded slash) is authorized as
 * parsed here, but not served (`isAmbiguous`). Slashes at the end of a resource path are ignored.
 * @throws StatusError 400 for a malformed target; TextError 500 for a path that ends before its resource
 */
export function parseRequestInfo(method: string, rawTarget: string): RequestInfo {
  refuseStrayBytes(rawTarget);
  const mark = rawTarget.indexOf("?");
  const rawPath = mark === -1 ? rawTarget : rawTarget.slice(0, mark);
  const query = mark === -1 ? emptyQuery : parseQuery(rawTarget.slice(mark + 1));
  const path = rawPath.includes("%") ? decodePath(rawPath) : rawPath;
  const parts = path.slice(1).split("/");
  if (parts.length > maxPathSegments) throw status.badRequest("the request path has too many segments");
  while (parts.at(-1) === "") parts.pop();
  const info: RequestInfo = parseResource(method, path, parts, query) ?? {
    kind: "nonResource",
    verb: method.toLowerCase(),
    path: discoveryPath(path, parts) ?? path,
    query,
  };
  return isAmbiguous(rawPath, parts, info) ? { ...info, isAmbiguous: true } : info;
}

/** Returns the path of a discovery document without one of the slashes at its end; undefined for any other path. */
function discoveryPath(path: string, parts: readonly string[]): string | undefined {
  const isDiscovery = parts[0] === "api" || parts[0] === "apis";
  return isDiscovery && path.endsWith("//") ? `/${parts.join("/")}/` : undefined;
}

/** The value of an exchange before its target is parsed, and afterwards if that fails. */
export const unparsedRequest: RequestInfo = { kind: "nonResource", verb: "", path: "", query: new Map() };

const emptyQuery: Query = new Map();

function refuseStrayBytes(rawTarget: string): void {
  if (rawTarget.charCodeAt(0) !== 0x2f) throw status.badRequest("the request target must start with a slash");
  for (let at = 0; at < rawTarget.length; at++) {
    const code = rawTarget.charCodeAt(at);
    if (code <= 0x20 || code >= 0x7f || code === 0x23 || code === 0x5c) {
      throw status.badRequest("the request target contains a character that must be percent-encoded");
    }
  }
}

/** Decoding must not produce characters that the raw target may not contain. */
function decodePath(rawPath: string): string {
  const path = decode(rawPath);
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    if (code < 0x20 || code === 0x7f || code === 0x5c) {
      throw status.badRequest("the request path contains an encoded backslash or control character");
    }
  }
  return path;
}

const encodedSlash = /%2f/i;

function isAmbiguous(rawPath: string, parts: readonly string[], info: RequestInfo): boolean {
  if (rawPath.includes("%") && encodedSlash.test(rawPath)) return true;
  // Handlers validate the name of an object, and explain a refusal.
  let validated = info.kind === "resource" && info.nameInPath && isDots(info.name) ? 1 : 0;
  for (const part of parts) {
    if (part === "" || (isDots(part) && validated-- === 0)) return true;
  }
  return false;
}

function isDots(segment: string): boolean {
  return segment === "." || segment === "..";
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
    // As upstream's parser does, omit a malformed pair.
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
  /** Index of the part that comes next. */
  let at = atVersion + 1;
  if (parts.length <= at) return undefined;
  const group = atVersion === 1 ? "" : (parts[1] as string);
  const version = parts[atVersion] as string;

  const first = parts[at];
  const verbPrefix = first === "watch" || first === "proxy" ? first : undefined;
  if (verbPrefix !== undefined && parts.length <= ++at) throw noResource(path);
  let namespace = "";
  let isNested = false;
  if (parts[at] === "namespaces" && parts.length > at + 1) {
    namespace = parts[at + 1] as string;
    if (parts.length > at + 2 && !namespaceSubresources.has(parts[at + 2] as string)) {
      at += 2;
      isNested = parts[at] === "namespaces";
    }
  }
  const resource = parts[at] as string;
  const pathName = parts[at + 1] ?? "";
  const subresource = verbPrefix === "proxy" ? "" : (parts[at + 2] ?? "");
  const isBeyond = isNested || (parts.length > at + 3 && verbPrefix !== "proxy" && subresource !== "proxy");

  const verb = verbPrefix ?? verbOf(method, pathName, query);
  const name = pathName === "" ? selectedName(verb, query) : pathName;
  const nameInPath = pathName !== "";
  const place = { group, version, resource, subresource, namespace, name, nameInPath };
  if (verbPrefix !== "watch" && !isBeyond) return { kind: "resource", verb, path, ...place, query };
  const form = { ...(verbPrefix === "watch" ? { isWatchPath: true } : {}), ...(isBeyond ? { isBeyond } : {}) };
  return { kind: "resource", verb, path, ...place, ...form, query };
}

function noResource(path: string): TextError {
  const why = `unable to determine kind and namespace from url, ${path}`;
  return new TextError(500, `Internal Server Error: ${JSON.stringify(path)}: failed to create RequestInfo: ${why}\n`);
}

function verbOf(method: string, name: string, query: Query): Verb {
  switch (method) {
    case "GET":
    case "HEAD":
      if (name !== "") return "get";
      return queryFlag(query, "watch") ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    default:
      return "";
  }
}

/** Returns the name that the field selector of a list or watch requires, if it could be a path segment. */
function selectedName(verb: Verb, query: Query): string {
  if (verb !== "list" && verb !== "watch") return "";
  const selector = queryValue(query, "fieldSelector");
  const name = selector === "" ? undefined : pinnedName(selector);
  if (name === undefined || name === "." || name === ".." || name.includes("/") || name.includes("%")) return "";
  return name;
}
