import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonObject } from "../json.ts";
import { isPresent, numberOf, objectOf, textOf } from "../json-reading.ts";
import { dnsSubdomainProblems } from "./names.ts";
import { portNumberProblems } from "./port.ts";

const form = "; desired format: https://host[/path]";

/** Validates the address of a webhook: `{url}` or `{service}`. */
export function validateWebhookClient({ url, service }: JsonObject, field: string): FieldError[] {
  if (isPresent(url) === isPresent(service)) {
    return [fieldError.required(field, "exactly one of url or service is required")];
  }
  return isPresent(url)
    ? validateWebhookUrl(textOf(url), `${field}.url`)
    : validateWebhookService(objectOf(service), `${field}.service`);
}

/** Validates a URL, which may only name a server and a path: users, queries and fragments are not allowed. */
export function validateWebhookUrl(text: string, field: string): FieldError[] {
  const { scheme, user, host, query, fragment } = partsOf(text);
  const invalid = (part: string, problem: string) => fieldError.invalid(field, part, problem);
  return [
    ...(scheme === "https" ? [] : [invalid(scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === "" ? [invalid(host, `host must be specified${form}`)] : []),
    ...(user === undefined ? [] : [invalid(user, "user information is not permitted in the URL")]),
    ...(fragment === "" ? [] : [invalid(fragment, "fragments are not permitted in the URL")]),
    ...(query === "" ? [] : [invalid(query, "query parameters are not permitted in the URL")]),
  ];
}

export function validateWebhookService(service: JsonObject, field: string): FieldError[] {
  const { name, namespace, path } = service;
  const port = numberOf(service["port"]);
  const problems = portNumberProblems(port);
  return [
    ...(textOf(name) === "" ? [fieldError.required(`${field}.name`)] : []),
    ...(textOf(namespace) === "" ? [fieldError.required(`${field}.namespace`)] : []),
    ...problems.map((problem) => fieldError.invalid(`${field}.port`, port, `port is not valid: ${problem}`)),
    ...validatePath(textOf(path), `${field}.path`),
  ];
}

function validatePath(path: string, field: string): FieldError[] {
  const invalid = (problem: string) => fieldError.invalid(field, path, problem);
  if (path === "" || path === "/") return [];
  if (path === "//") return [invalid("segment[0] may not be empty")];
  const errors = path.startsWith("/") ? [] : [invalid("must start with a '/'")];
  const inner = path.slice(1, path.endsWith("/") ? -1 : undefined);
  for (const [at, segment] of inner.split("/").entries()) {
    if (segment === "") errors.push(invalid(`segment[${at}] may not be empty`));
    else errors.push(...dnsSubdomainProblems(segment).map((problem) => invalid(`segment[${at}]: ${problem}`)));
  }
  return errors;
}

interface UrlParts {
  readonly scheme: string;
  /** Text before `@`; undefined without one. */
  readonly user: string | undefined;
  readonly host: string;
  readonly query: string;
  readonly fragment: string;
}

/** Splits a URL into its parts as written. A browser's parser would repair what must be rejected. */
function partsOf(text: string): UrlParts {
  const [beforeFragment, fragment] = splitAt(text, "#");
  const [beforeQuery, query] = splitAt(beforeFragment, "?");
  const colon = beforeQuery.indexOf(":");
  const scheme =
    colon > 0 && /^[A-Za-z][A-Za-z0-9+.-]*$/.test(beforeQuery.slice(0, colon)) ? beforeQuery.slice(0, colon) : "";
  const rest = scheme === "" ? beforeQuery : beforeQuery.slice(colon + 1);
  const [authority] = rest.startsWith("//") ? splitAt(rest.slice(2), "/") : [""];
  const at = authority.lastIndexOf("@");
  return {
    scheme: scheme.toLowerCase(),
    user: at < 0 ? undefined : authority.slice(0, at),
    host: authority.slice(at + 1),
    query,
    fragment,
  };
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
