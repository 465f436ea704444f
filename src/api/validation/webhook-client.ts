import { type FieldError, fieldError } from "../field-error.ts";
import { parseUrl, type Url, UrlError } from "../go-url.ts";
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
  const { scheme, userinfo, host, query, fragment, problem } = partsOf(text);
  if (problem !== undefined) return [fieldError.required(field, `url must be a valid URL: ${problem}${form}`)];
  const invalid = (part: string, problem: string) => fieldError.invalid(field, part, problem);
  return [
    ...(scheme === "https" ? [] : [invalid(scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === "" ? [invalid(host, `host must be specified${form}`)] : []),
    ...(userinfo === undefined ? [] : [invalid(userinfo, "user information is not permitted in the URL")]),
    ...(fragment === "" ? [] : [invalid(fragment, "fragments are not permitted in the URL")]),
    ...(query === "" ? [] : [invalid(query, "query parameters are not permitted in the URL")]),
  ];
}

export function validateWebhookService(service: JsonObject, field: string): FieldError[] {
  const { name, namespace, path } = service;
  const port = numberOf(service["port"]);
  const problems = portNumberProblems(port);
  return [
    // Upstream interchanges the two fields.
    ...(textOf(namespace) === "" ? [fieldError.required(`${field}.name`)] : []),
    ...(textOf(name) === "" ? [fieldError.required(`${field}.namespace`)] : []),
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

type UrlParts = Pick<Url, "scheme" | "userinfo" | "host" | "query" | "fragment"> & { readonly problem?: string };

const noParts: UrlParts = { scheme: "", userinfo: undefined, host: "", query: "", fragment: "" };

/** Splits a URL into its parts, or explains why it cannot be parsed. */
function partsOf(text: string): UrlParts {
  try {
    return parseUrl(text);
  } catch (error) {
    if (error instanceof UrlError) return { ...noParts, problem: error.message };
    throw error;
  }
}
