import type { Clock } from "../../process/clock.ts";
import { parseAccept } from "../negotiate.ts";
import { negotiateDocument, taggedReply } from "../document-reply.ts";
import type { Route } from "../discovery/discovery-route.ts";
import { type Exchange, header, type HttpResponse } from "../../request/exchange.ts";
import { queryValue } from "../../request/request-info.ts";
import { documentKey, groupVersionsOf, protobufMediaType, v2Path, v3Root } from "./document-key.ts";
import type { OpenApiSource } from "./documents.ts";
import type { EncodedDocument, EncodedDocuments } from "./encoded-documents.ts";

/** Both spellings are in use; the answer has the one without `@`. */
const protobufSpellings = [protobufMediaType, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"];
const yearMs = 365 * 24 * 3_600_000;

/**
 * `/openapi/v2`, `/openapi/v3` and the documents below it. Nothing is built before the first request, and then once
 * per generation of the catalog.
 */
export function openApiRoute(source: OpenApiSource, clock: Pick<Clock, "nowMs">): Route {
  // Loaded with the first request: what writes documents is the larger part, and many servers are never asked for one.
  let loading: Promise<EncodedDocuments> | undefined;
  const load = () =>
    (loading ??= import("./encoded-documents.ts").then((module) => new module.EncodedDocuments(source)));
  return {
    get paths() {
      return [
        v2Path,
        v3Root,
        `${v3Root}/*`,
        ...groupVersionsOf(source.catalog).map((each) => `${v3Root}/${documentKey(each)}`),
      ];
    },
    handle: async (exchange) => {
      const documents = await load();
      const path = exchange.info.path.endsWith("/") ? exchange.info.path.slice(0, -1) : exchange.info.path;
      if (path === v2Path) return v2Reply(exchange, documents);
      if (exchange.info.path === v3Root) return indexReply(exchange, await documents.index());
      return v3Reply(exchange, documents, path, clock.nowMs());
    },
  };
}

async function v2Reply(exchange: Exchange, documents: EncodedDocuments): Promise<HttpResponse> {
  const accept = header(exchange.request, "accept");
  for (const { type, subtype } of parseAccept(accept ?? "")) {
    if (protobufSpellings.includes(`${type}/${subtype}`)) {
      const { bytes, hash } = await documents.v2Protobuf();
      return taggedReply(exchange, hash, bytes, [["content-type", protobufMediaType]]);
    }
    if (subtype === "json" || subtype === "*") break;
  }
  return jsonReply(exchange, await documents.v2());
}

async function v3Reply(
  exchange: Exchange,
  documents: EncodedDocuments,
  path: string,
  nowMs: number,
): Promise<HttpResponse> {
  const document = await documents.v3(path.slice(v3Root.length + 1));
  if (document === undefined) return { kind: "reply", code: 404, headers: [], body: [] };
  const asked = queryValue(exchange.info.query, "hash");
  if (asked === "") return jsonReply(exchange, document);
  if (asked !== document.hash) {
    const location = `${path}?hash=${document.hash}`;
    return {
      kind: "reply",
      code: 301,
      headers: [
        ["location", location],
        ["content-type", "application/json"],
      ],
      body: [],
    };
  }
  return jsonReply(exchange, document, [
    ["cache-control", "public, immutable"],
    ["expires", new Date(nowMs + yearMs).toUTCString()],
  ]);
}

/** The list of documents has one form, which upstream sends to every client without naming its type. */
function indexReply(exchange: Exchange, { bytes, hash }: EncodedDocument): HttpResponse {
  return taggedReply(exchange, hash, bytes, [["content-type", "text/plain; charset=utf-8"]]);
}

function jsonReply(
  exchange: Exchange,
  { bytes, hash }: EncodedDocument,
  headers: [string, string][] = [],
): HttpResponse {
  negotiateDocument(header(exchange.request, "accept"), ["application/json"]);
  return taggedReply(exchange, hash, bytes, [["content-type", "application/json"], ...headers]);
}
