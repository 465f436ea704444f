import type { Clock } from "../../api/clock.ts";
import { apiVersionOf, type GroupVersion } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import { status } from "../../api/status.ts";
import { toBytes } from "../../codec/byte-text.ts";
import { stringifyJson } from "../../codec/json.ts";
import { parseAccept } from "../../codec/negotiate.ts";
import { documentHash, negotiateDocument, requireGet, taggedReply } from "../document-reply.ts";
import type { Route } from "../discovery/discovery-route.ts";
import { type Exchange, header, type HttpResponse } from "../exchange.ts";
import { queryValue } from "../request-info.ts";
import { type OpenApiSource, openApiV2Document, openApiV3Document } from "./documents.ts";
import { encodeSwagger } from "./swagger-protobuf.ts";

interface Encoded {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

const v3Root = "/openapi/v3";
const v2Path = "/openapi/v2";
/** Both spellings are in use; the answer has the one without `@`. */
const protobufMediaType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const protobufSpellings = [protobufMediaType, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"];
const yearMs = 365 * 24 * 3_600_000;

/**
 * `/openapi/v2`, `/openapi/v3` and the documents below it. Nothing is built before the first request, and then once
 * per generation of the catalog.
 */
export function openApiRoute(source: OpenApiSource, clock: Pick<Clock, "nowMs">): Route {
  const documents = new Documents(source);
  return {
    get paths() {
      return [v2Path, v3Root, ...documents.groupVersions().map((gv) => `${v3Root}/${indexKey(gv)}`)];
    },
    handle: async (exchange) => {
      requireGet(exchange);
      const path = exchange.info.path.endsWith("/") ? exchange.info.path.slice(0, -1) : exchange.info.path;
      if (path === v2Path) return v2Reply(exchange, documents);
      if (path === v3Root) return jsonReply(exchange, await documents.index());
      return v3Reply(exchange, documents, path, clock.nowMs());
    },
  };
}

function v2Reply(exchange: Exchange, documents: Documents): HttpResponse {
  const accept = header(exchange.request, "accept");
  for (const { type, subtype } of parseAccept(accept ?? "")) {
    if (protobufSpellings.includes(`${type}/${subtype}`)) {
      const { bytes, hash } = documents.v2Protobuf();
      return taggedReply(exchange, hash, bytes, [["content-type", protobufMediaType]]);
    }
    if (subtype === "json" || subtype === "*") break;
  }
  return jsonReply(exchange, documents.v2());
}

function v3Reply(exchange: Exchange, documents: Documents, path: string, nowMs: number): HttpResponse {
  const groupVersion = documents.groupVersions().find((each) => path === `${v3Root}/${indexKey(each)}`);
  if (groupVersion === undefined) throw status.pathNotFound();
  const document = documents.v3(groupVersion);
  const asked = queryValue(exchange.info.query, "hash");
  if (asked === "") return jsonReply(exchange, document);
  if (asked !== document.hash) {
    const location = `${path}?hash=${document.hash}`;
    return { kind: "reply", code: 301, headers: [["location", location]], body: [] };
  }
  return jsonReply(exchange, document, [
    ["cache-control", "public, immutable"],
    ["expires", new Date(nowMs + yearMs).toUTCString()],
  ]);
}

function jsonReply(exchange: Exchange, { bytes, hash }: Encoded, headers: [string, string][] = []): HttpResponse {
  negotiateDocument(header(exchange.request, "accept"), ["application/json"]);
  return taggedReply(exchange, hash, bytes, [["content-type", "application/json"], ...headers]);
}

/** `api/v1` or `apis/apps/v1`. */
function indexKey(groupVersion: GroupVersion): string {
  return `${groupVersion.group === "" ? "api" : "apis"}/${apiVersionOf(groupVersion)}`;
}

/** Documents as bytes, made when first asked for and kept until the served types change. */
class Documents {
  readonly #source: OpenApiSource;
  readonly #encoded = new Map<string, Encoded>();
  #generation = -1;

  constructor(source: OpenApiSource) {
    this.#source = source;
  }

  groupVersions(): GroupVersion[] {
    return this.#source.catalog
      .groups()
      .flatMap(({ group, versions }) => versions.map((version) => ({ group, version })));
  }

  /**
   * The tag of a document is in its address, so that clients may keep it for ever. So all documents have to be made
   * first: one a turn, as together they take long.
   */
  async index(): Promise<Encoded> {
    for (const groupVersion of this.groupVersions()) {
      if (this.#has(indexKey(groupVersion))) continue;
      this.v3(groupVersion);
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    return this.#once(v3Root, () => {
      const entries = this.groupVersions().map((groupVersion) => {
        const key = indexKey(groupVersion);
        return [key, { serverRelativeURL: `${v3Root}/${key}?hash=${this.v3(groupVersion).hash}` }] as const;
      });
      return asJson({ paths: Object.fromEntries(entries) });
    });
  }

  v3(groupVersion: GroupVersion): Encoded {
    return this.#once(indexKey(groupVersion), () => asJson(openApiV3Document(this.#source, groupVersion)));
  }

  v2(): Encoded {
    return this.#once(v2Path, () => asJson(openApiV2Document(this.#source)));
  }

  v2Protobuf(): Encoded {
    return this.#once(protobufMediaType, () => encoded(encodeSwagger(openApiV2Document(this.#source))));
  }

  #has(key: string): boolean {
    return this.#source.catalog.generation() === this.#generation && this.#encoded.has(key);
  }

  #once(key: string, build: () => Encoded): Encoded {
    const generation = this.#source.catalog.generation();
    if (generation !== this.#generation) this.#encoded.clear();
    this.#generation = generation;
    let document = this.#encoded.get(key);
    if (document === undefined) {
      document = build();
      this.#encoded.set(key, document);
    }
    return document;
  }
}

function asJson(document: JsonObject): Encoded {
  return encoded(toBytes(stringifyJson(document)));
}

function encoded(bytes: Uint8Array): Encoded {
  return { bytes, hash: documentHash(bytes) };
}
