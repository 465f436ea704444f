import {
  escapedPath,
  hostnameOf,
  isRequestUrl,
  parseRequestUrl,
  parseUrl,
  portOf,
  queryOf,
  type Url,
  UrlError,
  urlText,
} from "../../api/go-url.ts";
import type { Library } from "../environment.ts";
import { boolType, type CelType, listOf, mapOf, stringType, structOf } from "../types/cel-type.ts";
import { type FunctionDeclaration, member, overload } from "../types/declarations.ts";
import { ArrayList } from "../values/lists.ts";
import { EntryMap } from "../values/maps.ts";
import { EvaluationError, noSuchOverload, OpaqueValue, type Result, type Value } from "../values/value.ts";

const urlType = structOf("kubernetes.URL");

export class UrlValue extends OpaqueValue {
  readonly url: Url;

  constructor(url: Url) {
    super();
    this.url = url;
  }

  get type(): CelType {
    return urlType;
  }

  equals(other: Value): Result {
    return other instanceof UrlValue ? this.text === other.text : noSuchOverload;
  }

  get text(): string {
    return urlText(this.url);
  }
}

/** URLs: `url("https://example.com:80/a").getHostname()`. */
export const urlLibrary: Library = {
  functions: [
    { name: "url", overloads: [overload("string_to_url", [stringType], urlType, { unary: toUrl })] },
    reader("getScheme", "url_get_scheme", ({ scheme }) => scheme),
    reader("getHost", "url_get_host", ({ host }) => host),
    reader("getHostname", "url_get_hostname", hostnameOf),
    reader("getPort", "url_get_port", portOf),
    reader("getEscapedPath", "url_get_escaped_path", escapedPath),
    {
      name: "getQuery",
      overloads: [
        member("url_get_query", [urlType], mapOf(stringType, listOf(stringType)), {
          unary: (url) => (url instanceof UrlValue ? queryMap(url.url) : noSuchOverload),
        }),
      ],
    },
    {
      name: "isURL",
      overloads: [overload("is_url_string", [stringType], boolType, { unary: isUrl })],
    },
  ],
};

function reader(name: string, id: string, read: (url: Url) => string): FunctionDeclaration {
  const unary = (url: Value): Result => (url instanceof UrlValue ? read(url.url) : noSuchOverload);
  return { name, overloads: [member(id, [urlType], stringType, { unary })] };
}

function toUrl(text: Value): Result {
  if (typeof text !== "string") return noSuchOverload;
  try {
    parseRequestUrl(text);
    return new UrlValue(parseUrl(text));
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return new EvaluationError(`URL parse error during conversion from string: ${error.message}`);
  }
}

function isUrl(text: Value): Result {
  return typeof text === "string" ? isRequestUrl(text) : noSuchOverload;
}

function queryMap(url: Url): Result {
  return new EntryMap([...queryOf(url)].map(([name, values]) => [name, new ArrayList(values)] as const));
}
