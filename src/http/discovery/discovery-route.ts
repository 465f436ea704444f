import { toBytes } from "../../api/codec/byte-text.ts";
import { encodeDocument } from "../../api/codec/encode-document.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { metaSchema } from "../../api/codec/meta-schema.ts";
import type { MediaType } from "../../api/codec/representation.ts";
import type { JsonObject } from "../../api/json.ts";
import { status } from "../../api/status.ts";
import { protobufMediaType } from "../../api/vendor.ts";
import { type Exchange, type Handler, type HttpResponse, header } from "../../request/exchange.ts";
import { documentHash, negotiateDocument, reply, requireGet, taggedReply } from "../document-reply.ts";
import { type AcceptClause, parseAccept } from "../negotiate.ts";
import { producedTypes, refuseUnproduced } from "../produced-types.ts";
import { aggregatedMediaType, apiGroupDiscoveryList } from "./aggregated-discovery.ts";
import { apiGroup, apiGroupList, apiVersions } from "./api-groups.ts";
import { apiResourceList } from "./api-resource-list.ts";
import type { MergedDiscovery } from "./merged-discovery.ts";
import type { ServedTypes } from "./served-types.ts";

/** A handler and the exact paths that it serves now. */
export interface Route {
  readonly paths: readonly string[];
  readonly handle: Handler;
}

interface Aggregated {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

const mediaTypes: readonly MediaType[] = ["application/json", "application/yaml", protobufMediaType];

/**
 * Serves `/api`, `/apis` and the paths below them that are not resource requests.
 * @param serverAddress returns host and port for clients
 */
export function discoveryRoute(types: MergedDiscovery, serverAddress: () => string): Route {
  const aggregated = new AggregatedDocuments(types);
  return {
    get paths() {
      return discoveryPaths(types);
    },
    handle: async (exchange) => {
      if (isRouted(segmentsOf(exchange))) requireGet(exchange);
      return respond(exchange, types, serverAddress(), aggregated);
    },
  };
}

function segmentsOf({ info }: Exchange): readonly string[] {
  return info.path.split("/").filter((segment) => segment !== "");
}

/** Reports whether upstream's router checks the path. It serves `/apis` and `/apis/<group>` for every method and type. */
function isRouted(segments: readonly string[]): boolean {
  return segments[0] === "api" || segments.length > 2;
}

/**
 * Returns every discovery path. Each is also served with a trailing slash. Extension servers answer for their own group
 * versions.
 */
function discoveryPaths(types: MergedDiscovery): string[] {
  const paths = ["/api", "/apis"];
  for (const { group } of types.listed()) if (group !== "") paths.push(`/apis/${group}`);
  for (const { group, versions } of types.catalog.groups()) {
    const prefix = group === "" ? "/api" : `/apis/${group}`;
    for (const version of versions) paths.push(`${prefix}/${version}`);
  }
  return paths.flatMap((path) => [path, `${path}/`]);
}

function respond(
  exchange: Exchange,
  types: MergedDiscovery,
  serverAddress: string,
  aggregated: AggregatedDocuments,
): HttpResponse {
  const segments = segmentsOf(exchange);
  const accept = header(exchange.request, "accept");
  const [root] = segments;
  if (segments.length === 1 && (root === "api" || root === "apis") && wantsAggregated(accept)) {
    const { bytes, hash } = aggregated.get(root);
    return taggedReply(exchange, hash, bytes, [
      ["content-type", aggregatedMediaType],
      ["cache-control", "public"],
    ]);
  }
  const document = documentAt(segments, types, serverAddress);
  if (document === undefined) throw status.pathNotFound();
  if (isRouted(segments)) refuseUnproduced(accept, producedTypes.documents);
  const representation = negotiateDocument(accept, mediaTypes);
  const headers: [string, string][] = [["content-type", representation.mediaType]];
  if (segments.length === 1) headers.push(["vary", "Accept"]);
  const schema = metaSchema(`meta/v1.${String(document["kind"])}`);
  return reply(encodeDocument({ document, schema }, representation), headers);
}

function documentAt(
  segments: readonly string[],
  types: MergedDiscovery,
  serverAddress: string,
): JsonObject | undefined {
  const { catalog } = types;
  const [root, first, second] = segments;
  if (root === "api") {
    if (segments.length > 2) return undefined;
    const versions = catalog.groups().find(({ group }) => group === "")?.versions ?? [];
    return first === undefined ? apiVersions(versions, serverAddress) : resourcesAt(catalog, "", first);
  }
  if (root !== "apis" || segments.length > 3) return undefined;
  if (first === undefined) return apiGroupList(types.listed());
  if (second !== undefined) return resourcesAt(catalog, first, second);
  const served = types.listed().find(({ group }) => group === first);
  return served === undefined || first === "" ? undefined : apiGroup(served);
}

function resourcesAt(catalog: ServedTypes, group: string, version: string): JsonObject | undefined {
  const served = catalog.groups().find((each) => each.group === group);
  if (served === undefined || !served.versions.includes(version)) return undefined;
  const groupVersion = { group, version };
  return apiResourceList(groupVersion, catalog.resources(groupVersion));
}

/** Chooses the first clause that can be served. The old beta of the aggregated form cannot. */
function wantsAggregated(accept: string | undefined): boolean {
  for (const clause of parseAccept(accept ?? "")) {
    if (isJson(clause) && isAggregatedV2(clause)) return true;
    if (isJson(clause) && !clause.parameters.has("as")) return false;
  }
  return false;
}

function isJson({ type, subtype }: AcceptClause): boolean {
  return (type === "application" && (subtype === "json" || subtype === "*")) || (type === "*" && subtype === "*");
}

function isAggregatedV2({ parameters }: AcceptClause): boolean {
  return (
    parameters.get("as") === "APIGroupDiscoveryList" &&
    parameters.get("g") === "apidiscovery.k8s.io" &&
    parameters.get("v") === "v2"
  );
}

/** The two aggregated documents, encoded once per generation of the types. */
class AggregatedDocuments {
  readonly #types: MergedDiscovery;
  #generation = "";
  #documents: Partial<Record<"api" | "apis", Aggregated>> = {};

  constructor(types: MergedDiscovery) {
    this.#types = types;
  }

  get(root: "api" | "apis"): Aggregated {
    const generation = this.#types.generation();
    if (generation !== this.#generation) this.#documents = {};
    this.#generation = generation;
    this.#documents[root] ??= this.#encode(root);
    return this.#documents[root];
  }

  #encode(root: "api" | "apis"): Aggregated {
    const groups = this.#types.described().filter(({ group }) => (group === "") === (root === "api"));
    const bytes = toBytes(`${stringifyJson(apiGroupDiscoveryList(groups, this.#types))}\n`);
    return { bytes, hash: documentHash(bytes) };
  }
}
