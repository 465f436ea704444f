import type { Clock } from "../../process/clock.ts";
import { groupVersionsOf } from "../../registry/catalog.ts";
import {
  type Exchange,
  type Handler,
  type HeaderList,
  type HttpResponse,
  header,
  type Reply,
} from "../../request/exchange.ts";
import { queryValue } from "../../request/request-info.ts";
import type { Route } from "../discovery/discovery-route.ts";
import { taggedReply } from "../document-reply.ts";
import { parseAccept } from "../negotiate.ts";
import { documentKey, v2Path, v2Protobuf, v3Protobuf, v3Root } from "./document-key.ts";
import type { OpenApiSource } from "./documents.ts";
import type { EncodedDocument, EncodedDocuments } from "./encoded-documents.ts";

const yearMs = 365 * 24 * 3_600_000;

/** Passes a request for a document on to the extension server that has it; undefined if none has it. */
export type ForwardDocument = (exchange: Exchange, key: string) => ReturnType<Handler> | undefined;

/**
 * Serves `/openapi/v2`, `/openapi/v3` and the documents below it. Documents are built on demand, once per generation of
 * the catalog.
 */
export function openApiRoute(source: OpenApiSource, clock: Pick<Clock, "nowMs">, forward?: ForwardDocument): Route {
  // Load the code with the first request, because it is large and many servers are never asked for a document.
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
      const key = path.slice(v3Root.length + 1);
      const reply = await v3Reply(exchange, documents, key, clock.nowMs());
      return reply ?? forward?.(exchange, key) ?? notFound;
    },
  };
}

async function v2Reply(exchange: Exchange, documents: EncodedDocuments): Promise<HttpResponse> {
  switch (negotiateForm(exchange, v2Protobuf)) {
    case undefined:
      return notAcceptable;
    case "json":
      return formReply(exchange, await documents.v2(), "application/json");
    case "protobuf":
      return formReply(exchange, await documents.v2Protobuf(), v2Protobuf);
  }
}

async function v3Reply(
  exchange: Exchange,
  documents: EncodedDocuments,
  key: string,
  nowMs: number,
): Promise<HttpResponse | undefined> {
  const form = negotiateForm(exchange, v3Protobuf);
  const document = await (form === "protobuf" ? documents.v3Protobuf(key) : documents.v3(key));
  if (document === undefined) return undefined;
  if (form === undefined) return notAcceptable;
  const mediaType = form === "json" ? "application/json" : v3Protobuf;
  const asked = queryValue(exchange.info.query, "hash");
  if (asked === "") return formReply(exchange, document, mediaType);
  if (asked !== document.hash) return redirect(`${v3Root}/${key}?hash=${document.hash}`, document, mediaType);
  return formReply(exchange, document, mediaType, [
    ["cache-control", "public, immutable"],
    ["expires", new Date(nowMs + yearMs).toUTCString()],
  ]);
}

/** Chooses the form of a document. As upstream does, ignores parameters of media types. */
function negotiateForm({ request }: Exchange, protobuf: string): "json" | "protobuf" | undefined {
  const accept = header(request, "accept");
  if (accept === undefined || accept.trim() === "") return "json";
  for (const { type, subtype } of parseAccept(accept)) {
    if (type !== "application" && type !== "*") continue;
    if (subtype === "json" || subtype === "*") return "json";
    // The older spelling has an @ before the version. The answer uses the newer one.
    if (`application/${subtype.replace("@v1.0", ".v1.0")}` === protobuf) return "protobuf";
  }
  return undefined;
}

const notFound: Reply = { kind: "reply", code: 404, headers: [], body: [] };
const notAcceptable: Reply = { kind: "reply", code: 406, headers: [["vary", "Accept"]], body: [] };

function redirect(location: string, { hash }: EncodedDocument, mediaType: string): Reply {
  const headers: HeaderList = [
    ["location", location],
    ["content-type", mediaType],
    ["etag", `"${hash}"`],
    ["vary", "Accept"],
  ];
  return { kind: "reply", code: 301, headers, body: [] };
}

/** The list of documents has one form, which upstream sends to every client without naming its type. */
function indexReply(exchange: Exchange, { bytes, hash }: EncodedDocument): HttpResponse {
  return taggedReply(exchange, hash, bytes, [["content-type", "text/plain; charset=utf-8"]]);
}

function formReply(
  exchange: Exchange,
  { bytes, hash }: EncodedDocument,
  mediaType: string,
  headers: HeaderList = [],
): HttpResponse {
  return taggedReply(exchange, hash, bytes, [["content-type", mediaType], ...headers]);
}
