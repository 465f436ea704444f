import { AddressError, parseAddress } from "./go-address.ts";
import { quoteText } from "./go-literal.ts";

/** A URL, split as in Go's net/url. */
export interface Url {
  readonly scheme: string;
  /** Text behind the scheme, unless it starts with a slash. */
  readonly opaque: string;
  /** `user:password`, escaped, or undefined. */
  readonly userinfo: string | undefined;
  /** Host with its port. */
  readonly host: string;
  readonly path: string;
  readonly rawPath: string;
  readonly query: string;
  readonly forceQuery: boolean;
  readonly omitHost: boolean;
  readonly fragment: string;
}

/** Thrown for text that is not a URL. Messages are Go's. */
export class UrlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UrlError";
  }
}

/**
 * Parses an absolute URL or an absolute path; a fragment is part of the path.
 * @throws UrlError
 */
export function parseRequestUrl(text: string): Url {
  return withText(text, () => parseParts(text, true));
}

/** Reports whether a text is an absolute URL or an absolute path. */
export function isRequestUrl(text: string): boolean {
  try {
    parseRequestUrl(text);
    return true;
  } catch (error) {
    if (error instanceof UrlError) return false;
    throw error;
  }
}

/** @throws UrlError */
export function parseUrl(text: string): Url {
  const hash = text.indexOf("#");
  const url = withText(text, () => parseParts(hash < 0 ? text : text.slice(0, hash), false));
  if (hash < 0) return url;
  return withText(text, () => ({ ...url, fragment: unescape(text.slice(hash + 1), "path") }));
}

function withText<T>(text: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof UrlError) throw new UrlError(`parse ${quoteText(text)}: ${error.message}`);
    throw error;
  }
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

function parseParts(text: string, viaRequest: boolean): Url {
  if (hasControl(text)) throw new UrlError("net/url: invalid control character in URL");
  if (text === "" && viaRequest) throw new UrlError("empty url");
  const nothing = { scheme: "", opaque: "", userinfo: undefined, host: "", path: "", rawPath: "", query: "" };
  const empty: Url = { ...nothing, forceQuery: false, omitHost: false, fragment: "" };
  if (text === "*") return { ...empty, path: "*" };
  const { scheme, rest: afterScheme } = splitScheme(text);
  const mark = afterScheme.indexOf("?");
  const forceQuery = mark >= 0 && mark === afterScheme.length - 1;
  const query = mark < 0 ? "" : afterScheme.slice(mark + 1);
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark);
  const base: Url = { ...empty, scheme, query, forceQuery };
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { ...base, opaque: rest };
    if (viaRequest) throw new UrlError("invalid URI for request");
    if (rest.split("/", 1)[0]?.includes(":")) throw new UrlError("first path segment in URL cannot contain colon");
  }
  const hasAuthority = (scheme !== "" || (!viaRequest && !rest.startsWith("///"))) && rest.startsWith("//");
  if (!hasAuthority) return { ...base, ...pathOf(rest), omitHost: scheme !== "" && rest.startsWith("/") };
  const slash = rest.indexOf("/", 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  return { ...base, ...parseAuthority(scheme, authority), ...pathOf(slash < 0 ? "" : rest.slice(slash)) };
}

function splitScheme(text: string): { readonly scheme: string; readonly rest: string } {
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (/[A-Za-z]/.test(character)) continue;
    if (/[0-9+\-.]/.test(character) && at > 0) continue;
    if (character !== ":") break;
    if (at === 0) throw new UrlError("missing protocol scheme");
    return { scheme: text.slice(0, at).toLowerCase(), rest: text.slice(at + 1) };
  }
  return { scheme: "", rest: text };
}

function pathOf(text: string): { readonly path: string; readonly rawPath: string } {
  const path = unescape(text, "path");
  return { path, rawPath: escapePath(path) === text ? "" : text };
}

function parseAuthority(
  scheme: string,
  authority: string,
): { readonly userinfo: string | undefined; readonly host: string } {
  const at = authority.lastIndexOf("@");
  const host = parseHost(scheme, authority.slice(at + 1));
  if (at < 0) return { userinfo: undefined, host };
  const userinfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) throw new UrlError("net/url: invalid userinfo");
  for (const part of userinfo.split(":", 2)) unescape(part, "path");
  return { userinfo, host };
}

function isPort(text: string): boolean {
  return text === "" || /^:\d*$/.test(text);
}

function badPort(text: string): UrlError {
  return new UrlError(`invalid port ${quoteText(text)} after host`);
}

function parseHost(scheme: string, host: string): string {
  const open = host.lastIndexOf("[");
  if (open > 0) throw new UrlError("invalid IP-literal");
  if (open === 0) return parseBracketed(host);
  const first = host.indexOf(":");
  if (first >= 0) {
    const isStrict = scheme === "http" || scheme === "https";
    const port = host.slice(isStrict ? first : host.lastIndexOf(":"));
    if (!isPort(port)) throw badPort(port);
  }
  return unescape(host, "host");
}

function parseBracketed(host: string): string {
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  const port = host.slice(close + 1);
  if (!isPort(port)) throw badPort(port);
  const name = host.slice(1, close);
  const zone = name.indexOf("%25");
  const address =
    zone < 0 ? unescape(name, "host") : unescape(name.slice(0, zone), "host") + unescape(name.slice(zone), "zone");
  try {
    if (parseAddress(address).bytes.length === 4) throw new UrlError("invalid IP-literal");
  } catch (error) {
    if (error instanceof AddressError) throw new UrlError(`invalid host: ${error.message}`);
    throw error;
  }
  return `[${address}]${port}`;
}

type Place = "path" | "host" | "zone" | "query";

const hostCharacters = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]$/;

/** Decodes escapes such as `%41`, and rejects characters that are not allowed in this place. */
function unescape(text: string, place: Place): string {
  const bytes: number[] = [];
  for (const character of text.matchAll(/%[^]{0,2}|[^%]/gu)) {
    const piece = character[0];
    if (piece.startsWith("%")) bytes.push(escapedByte(piece, text.slice(character.index), place));
    else if (piece === "+" && place === "query") bytes.push(0x20);
    else {
      const isChecked = place === "host" || place === "zone";
      if (isChecked && piece.charCodeAt(0) < 0x80 && !hostCharacters.test(piece)) {
        throw new UrlError(`invalid character ${quoteText(piece)} in host name`);
      }
      bytes.push(...Buffer.from(piece));
    }
  }
  return Buffer.from(bytes).toString();
}

function escapedByte(piece: string, rest: string, place: Place): number {
  const sequence = Buffer.from(rest).subarray(0, 3).toString();
  const problem = () => new UrlError(`invalid URL escape ${quoteText(sequence)}`);
  if (!/^%[0-9a-fA-F]{2}$/.test(piece)) throw problem();
  const byte = Number.parseInt(piece.slice(1), 16);
  if (place === "host" && byte < 0x80 && piece !== "%25") throw problem();
  const isAllowed = piece === "%25" || byte === 0x20 || hostCharacters.test(String.fromCharCode(byte));
  if (place === "zone" && !isAllowed) throw problem();
  return byte;
}

/** Escapes a path as Go does. */
function escapePath(path: string): string {
  let escaped = "";
  for (const byte of Buffer.from(path)) {
    const character = String.fromCharCode(byte);
    const isPlain = /^[A-Za-z0-9\-_.~$&+,/:;=@]$/.test(character);
    escaped += isPlain ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return escaped;
}

/** Returns the path as it was written, if that spelling is valid. */
export function escapedPath({ path, rawPath }: Url): string {
  const isValid = /^(?:[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]]|%[0-9a-fA-F]{2})*$/.test(rawPath);
  if (rawPath !== "" && isValid) return rawPath;
  return path === "*" ? "*" : escapePath(path);
}

export function hostnameOf({ host }: Url): string {
  const colon = host.lastIndexOf(":");
  const name = colon >= 0 && isPort(host.slice(colon)) ? host.slice(0, colon) : host;
  return name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
}

export function portOf({ host }: Url): string {
  const colon = host.lastIndexOf(":");
  return colon >= 0 && isPort(host.slice(colon)) ? host.slice(colon + 1) : "";
}

/** Parses the query into values by name, ignoring malformed pairs. */
export function queryOf({ query }: Url): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const equals = pair.indexOf("=");
    try {
      const name = unescape(equals < 0 ? pair : pair.slice(0, equals), "query");
      const value = equals < 0 ? "" : unescape(pair.slice(equals + 1), "query");
      values.set(name, [...(values.get(name) ?? []), value]);
    } catch (error) {
      if (!(error instanceof UrlError)) throw error;
    }
  }
  return values;
}

/** Formats a URL canonically, so that equal URLs have equal texts. */
export function urlText(url: Url): string {
  const scheme = url.scheme === "" ? "" : `${url.scheme}:`;
  const query = url.forceQuery || url.query !== "" ? `?${url.query}` : "";
  const fragment = url.fragment === "" ? "" : `#${encodeURI(url.fragment)}`;
  if (url.opaque !== "") return scheme + url.opaque + query + fragment;
  const path = escapedPath(url);
  const hasAuthority = url.scheme !== "" || url.host !== "" || url.userinfo !== undefined;
  const omits = url.omitHost && url.host === "" && url.userinfo === undefined;
  let authority = "";
  if (hasAuthority && !omits && (url.host !== "" || path !== "" || url.userinfo !== undefined)) {
    const userinfo = url.userinfo === undefined ? "" : `${url.userinfo}@`;
    authority = `//${userinfo}${url.host.replaceAll("%", "%25")}`;
  }
  const gap = path !== "" && !path.startsWith("/") && url.host !== "" ? "/" : "";
  return scheme + authority + gap + path + query + fragment;
}
