import type { GroupVersion } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import { toBytes } from "../../api/codec/byte-text.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { documentHash } from "../document-reply.ts";
import { documentKey, groupVersionsOf, protobufMediaType, v2Path, v3Root } from "./document-key.ts";
import {
  type OpenApiSource,
  openApiV2Document,
  generalOperationsOf,
  generalV3Document,
  openApiV3Document,
} from "./documents.ts";
import { encodeSwagger } from "./swagger-protobuf.ts";

export interface EncodedDocument {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

/** Documents as bytes, made when first asked for and kept until the served types change. */
export class EncodedDocuments {
  readonly #source: OpenApiSource;
  readonly #encoded = new Map<string, EncodedDocument>();
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
    for (const key of this.#keys()) {
      if (this.#has(key)) continue;
      this.v3(key);
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    return this.#once(v3Root, () => {
      const entries = this.#keys().map((key) => {
        return [key, { serverRelativeURL: `${v3Root}/${key}?hash=${this.v3(key)?.hash}` }] as const;
      });
      return asJson({ paths: Object.fromEntries(entries) });
    });
  }

  /** The document at a key such as `apis/apps/v1`; undefined where there is none. */
  v3(key: string): EncodedDocument | undefined {
    const groupVersion = this.groupVersions().find((each) => documentKey(each) === key);
    if (groupVersion !== undefined) {
      return this.#once(key, () => asJson(openApiV3Document(this.#source, groupVersion)));
    }
    const operation = generalOperationsOf(this.#source).get(key);
    return operation && this.#once(key, () => asJson(generalV3Document(operation)));
  }

  #keys(): string[] {
    return [...generalOperationsOf(this.#source).keys(), ...this.groupVersions().map(documentKey)].sort();
  }

  v2(): EncodedDocument {
    return this.#once(v2Path, () => asJson(openApiV2Document(this.#source)));
  }

  v2Protobuf(): EncodedDocument {
    return this.#once(protobufMediaType, () => encoded(encodeSwagger(openApiV2Document(this.#source))));
  }

  #has(key: string): boolean {
    return this.#source.catalog.generation() === this.#generation && this.#encoded.has(key);
  }

  #once(key: string, build: () => EncodedDocument): EncodedDocument {
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

function asJson(document: JsonObject): EncodedDocument {
  return encoded(toBytes(stringifyJson(document)));
}

function encoded(bytes: Uint8Array): EncodedDocument {
  return { bytes, hash: documentHash(bytes) };
}
