import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { runSliced } from "../../api/sliced.ts";
import { nextTurn } from "../../api/turn.ts";
import { DocumentHasher } from "../document-reply.ts";
import { documentKey, groupVersionsOf, v2Path, v3Root } from "./document-key.ts";
import { type DocumentPart, type DocumentParts, encodeParts, type PartsWriter } from "./document-part.ts";
import {
  generalOperationsOf,
  generalV3Parts,
  type OpenApiSource,
  openApiV2Parts,
  openApiV3Parts,
} from "./documents.ts";
import { JsonPartsWriter } from "./json-parts-writer.ts";
import { openApiV3Message } from "./openapi-v3-protobuf.ts";
import { type DocumentMessage, ProtobufPartsWriter } from "./protobuf-parts-writer.ts";
import { swaggerMessage } from "./swagger-protobuf.ts";

export interface EncodedDocument {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

/** Makes the document. */
interface Plan {
  /** The served types that the document describes. */
  readonly resources: readonly ResourceInfo[];
  readonly parts: () => DocumentParts;
  readonly newWriter: () => PartsWriter;
}

interface Made {
  readonly resources: readonly ResourceInfo[];
  readonly hash: string;
  /** Undefined if it was dropped to save memory. */
  bytes: Uint8Array | undefined;
}

interface Making {
  readonly resources: readonly ResourceInfo[];
  readonly document: Promise<EncodedDocument>;
}

/** Keys of the documents that describe all types. */
const ofAll: ReadonlySet<string> = new Set([v3Root, v2Path]);
/** Prefix of the key of a document in its protobuf form. */
const protobufKey = "protobuf:";
/** Total size of cached documents. Others are made again on demand; only their hashes stay. */
const keptBytesMax = 16 * 1024 * 1024;

/**
 * Documents as bytes. Each is made on the first request, in slices, because a document of hundreds of kinds takes long.
 * It stays valid until the types that it describes change.
 */
export class EncodedDocuments {
  readonly #source: OpenApiSource;
  /** The documents below `/openapi/v3`, by key. */
  #plans: ReadonlyMap<string, Plan> = new Map();
  #all: readonly ResourceInfo[] = [];
  #generation = -1;
  /** By key, the most recently requested one last. */
  readonly #made = new Map<string, Made>();
  readonly #making = new Map<string, Making>();

  constructor(source: OpenApiSource) {
    this.#source = source;
  }

  /**
   * A document's hash is part of its address, so that clients may cache it forever. Therefore all documents are made
   * first.
   */
  async index(): Promise<EncodedDocument> {
    this.#followCatalog();
    const [plans, resources] = [this.#plans, this.#all];
    const parts: DocumentPart[] = [];
    for (const [key, plan] of plans) {
      let hash = this.#current(key, plan)?.hash;
      if (hash === undefined) {
        ({ hash } = await this.#document(key, plan));
        await nextTurn();
      }
      parts.push({ path: ["paths", key], value: { serverRelativeURL: `${v3Root}/${key}?hash=${hash}` } });
    }
    return this.#document(v3Root, { resources, parts: () => parts, newWriter: () => new JsonPartsWriter() });
  }

  /** Returns the document at a key such as `apis/apps/v1`; undefined if there is none. */
  v3(key: string): Promise<EncodedDocument> | undefined {
    this.#followCatalog();
    const plan = this.#plans.get(key);
    return plan && this.#document(key, plan);
  }

  /** Returns the same in protobuf. */
  v3Protobuf(key: string): Promise<EncodedDocument> | undefined {
    this.#followCatalog();
    const plan = this.#plans.get(key);
    return plan && this.#protobuf(key, plan, openApiV3Message);
  }

  v2(): Promise<EncodedDocument> {
    return this.#document(v2Path, this.#v2Plan());
  }

  v2Protobuf(): Promise<EncodedDocument> {
    return this.#protobuf(v2Path, this.#v2Plan(), swaggerMessage);
  }

  #v2Plan(): Plan {
    this.#followCatalog();
    const parts = () => openApiV2Parts(this.#source);
    return { resources: this.#all, parts, newWriter: () => new JsonPartsWriter() };
  }

  /** As upstream does, all forms of a document share the hash of its JSON. */
  async #protobuf(key: string, plan: Plan, message: DocumentMessage): Promise<EncodedDocument> {
    const { hash } = this.#current(key, plan) ?? (await this.#document(key, plan));
    const newWriter = () => new ProtobufPartsWriter(message);
    const { bytes } = await this.#document(`${protobufKey}${key}`, { ...plan, newWriter });
    return { bytes, hash };
  }

  /** Concurrent requests share one computation. */
  async #document(key: string, plan: Plan): Promise<EncodedDocument> {
    const made = this.#current(key, plan);
    if (made?.bytes !== undefined) {
      this.#keep(key, made);
      return { bytes: made.bytes, hash: made.hash };
    }
    const current = this.#making.get(key);
    if (current !== undefined && isEqual(current.resources, plan.resources)) return current.document;
    const making = { resources: plan.resources, document: this.#make(key, plan) };
    this.#making.set(key, making);
    try {
      return await making.document;
    } finally {
      if (this.#making.get(key) === making) this.#making.delete(key);
    }
  }

  async #make(key: string, { resources, parts, newWriter }: Plan): Promise<EncodedDocument> {
    const document = await runSliced(encode(parts(), newWriter()));
    this.#keep(key, { ...document, resources });
    return document;
  }

  #current(key: string, { resources }: Plan): Made | undefined {
    const made = this.#made.get(key);
    return made !== undefined && isEqual(made.resources, resources) ? made : undefined;
  }

  #keep(key: string, made: Made): void {
    this.#made.delete(key);
    this.#made.set(key, made);
    let bytes = 0;
    for (const one of [...this.#made.values()].reverse()) {
      bytes += one.bytes?.byteLength ?? 0;
      if (bytes > keptBytesMax) one.bytes = undefined;
    }
  }

  /** Drops documents that describe former types. */
  #followCatalog(): void {
    const { catalog } = this.#source;
    const generation = catalog.generation();
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#plans = plansOf(this.#source);
    this.#all = groupVersionsOf(catalog).flatMap((groupVersion) => catalog.resources(groupVersion));
    for (const [key, { resources }] of this.#made) {
      const json = key.startsWith(protobufKey) ? key.slice(protobufKey.length) : key;
      const current = ofAll.has(json) ? this.#all : this.#plans.get(json)?.resources;
      if (current === undefined || !isEqual(current, resources)) this.#made.delete(key);
    }
  }
}

/** Number of bytes that are hashed in one step. */
const hashedBytes = 1024 * 1024;

function* encode(parts: DocumentParts, writer: PartsWriter): Generator<void, EncodedDocument> {
  const bytes = yield* encodeParts(parts, writer);
  const hasher = new DocumentHasher();
  for (let start = 0; start < bytes.byteLength; start += hashedBytes) {
    hasher.update(bytes.subarray(start, start + hashedBytes));
    yield;
  }
  return { bytes, hash: hasher.digest() };
}

function plansOf(source: OpenApiSource): ReadonlyMap<string, Plan> {
  const newWriter = () => new JsonPartsWriter();
  const plans = new Map<string, Plan>();
  for (const [key, operation] of generalOperationsOf(source)) {
    plans.set(key, { resources: [], parts: () => generalV3Parts(source, operation), newWriter });
  }
  for (const groupVersion of groupVersionsOf(source.catalog)) {
    const resources = source.catalog.resources(groupVersion);
    const parts = () => openApiV3Parts(source, groupVersion, resources);
    plans.set(documentKey(groupVersion), { resources, parts, newWriter });
  }
  return new Map([...plans].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isEqual(some: readonly ResourceInfo[], others: readonly ResourceInfo[]): boolean {
  return some === others || (some.length === others.length && some.every((info, at) => info === others[at]));
}
