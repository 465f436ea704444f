import type { GroupVersion } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { toBytes } from "../../api/codec/byte-text.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { documentHash } from "../document-reply.ts";
import { documentKey, groupVersionsOf, protobufMediaType, v2Path, v3Root } from "./document-key.ts";
import { type OpenApiSource, openApiV2Document, openApiV3Document } from "./documents.ts";
import { encodeSwagger } from "./swagger-protobuf.ts";

export interface EncodedDocument {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

interface Kept {
  readonly document: EncodedDocument;
  /** The served types that the document tells of. */
  readonly resources: readonly ResourceInfo[];
}

/** Documents as bytes, made when first asked for and kept until the types that they tell of change. */
export class EncodedDocuments {
  readonly #source: OpenApiSource;
  /** One for each group version and three for all of them. */
  readonly #kept = new Map<string, Kept>();
  #generation = -1;

  constructor(source: OpenApiSource) {
    this.#source = source;
  }

  groupVersions(): GroupVersion[] {
    return groupVersionsOf(this.#source.catalog);
  }

  /**
   * The tag of a document is in its address, so that clients may keep it for ever. So all documents have to be made
   * first: one a turn, as together they take long.
   */
  async index(): Promise<EncodedDocument> {
    for (const groupVersion of this.groupVersions()) {
      if (this.#find(documentKey(groupVersion), this.#source.catalog.resources(groupVersion)) !== undefined) continue;
      this.v3(groupVersion);
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    return this.#once(v3Root, this.#all(), () => {
      const entries = this.groupVersions().map((groupVersion) => {
        const key = documentKey(groupVersion);
        return [key, { serverRelativeURL: `${v3Root}/${key}?hash=${this.v3(groupVersion).hash}` }] as const;
      });
      return asJson({ paths: Object.fromEntries(entries) });
    });
  }

  v3(groupVersion: GroupVersion): EncodedDocument {
    return this.#once(documentKey(groupVersion), this.#source.catalog.resources(groupVersion), () =>
      asJson(openApiV3Document(this.#source, groupVersion)),
    );
  }

  v2(): EncodedDocument {
    return this.#once(v2Path, this.#all(), () => asJson(openApiV2Document(this.#source)));
  }

  v2Protobuf(): EncodedDocument {
    return this.#once(protobufMediaType, this.#all(), () => encoded(encodeSwagger(openApiV2Document(this.#source))));
  }

  #all(): readonly ResourceInfo[] {
    return this.groupVersions().flatMap((groupVersion) => this.#source.catalog.resources(groupVersion));
  }

  #find(key: string, resources: readonly ResourceInfo[]): EncodedDocument | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || kept.resources.length !== resources.length) return undefined;
    return kept.resources.every((info, at) => info === resources[at]) ? kept.document : undefined;
  }

  #once(key: string, resources: readonly ResourceInfo[], build: () => EncodedDocument): EncodedDocument {
    this.#forgetRemoved();
    const known = this.#find(key, resources);
    if (known !== undefined) return known;
    const document = build();
    this.#kept.set(key, { document, resources });
    return document;
  }

  /** Drops the documents of group versions that are gone. */
  #forgetRemoved(): void {
    const generation = this.#source.catalog.generation();
    if (generation === this.#generation) return;
    this.#generation = generation;
    const served = new Set([v3Root, v2Path, protobufMediaType, ...this.groupVersions().map(documentKey)]);
    for (const key of this.#kept.keys()) if (!served.has(key)) this.#kept.delete(key);
  }
}

function asJson(document: JsonObject): EncodedDocument {
  return encoded(toBytes(stringifyJson(document)));
}

function encoded(bytes: Uint8Array): EncodedDocument {
  return { bytes, hash: documentHash(bytes) };
}
