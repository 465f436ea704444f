import { runSliced } from "../../process/sliced.ts";
import { nextTurn } from "../../process/turn.ts";
import { groupVersionsOf } from "../../registry/catalog.ts";
import { DocumentHasher } from "../document-reply.ts";
import { convertedSwagger } from "./convert-swagger.ts";
import { documentKey, v2Path, v3Root } from "./document-key.ts";
import { type DocumentPart, type DocumentParts, encodeParts, type PartsWriter } from "./document-part.ts";
import {
  generalOperationsOf,
  generalV3Parts,
  type OpenApiSource,
  openApiV2Parts,
  openApiV3Parts,
} from "./documents.ts";
import { JsonPartsWriter } from "./json-parts-writer.ts";
import { mergedSwagger } from "./merge-swagger.ts";
import { openApiV3Message } from "./openapi-v3-protobuf.ts";
import { type DocumentMessage, ProtobufPartsWriter } from "./protobuf-parts-writer.ts";
import { swaggerMessage } from "./swagger-protobuf.ts";

export interface EncodedDocument {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

/** Makes the document. */
interface Plan {
  /** The objects that the document is made of: served types, and parts of other documents. */
  readonly sources: readonly object[];
  readonly parts: () => DocumentParts;
  readonly newWriter: () => PartsWriter;
}

interface Made {
  readonly sources: readonly object[];
  readonly hash: string;
  /** Undefined if it was dropped to save memory. */
  bytes: Uint8Array | undefined;
}

interface Making {
  readonly sources: readonly object[];
  readonly document: Promise<EncodedDocument>;
}

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
  /** Sources of the documents that describe all types. */
  #ofIndex: readonly object[] = [];
  #ofSwagger: readonly object[] = [];
  #generation = "";
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
    this.#followTypes();
    const [plans, sources] = [this.#plans, this.#ofIndex];
    const urls = new Map(this.#source.remote?.listed());
    for (const [key, plan] of plans) {
      let hash = this.#current(key, plan)?.hash;
      if (hash === undefined) {
        ({ hash } = await this.#document(key, plan));
        await nextTurn();
      }
      urls.set(key, `${v3Root}/${key}?hash=${hash}`);
    }
    const parts = [...urls]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, url]): DocumentPart => ({ path: ["paths", key], value: { serverRelativeURL: url } }));
    return this.#document(v3Root, { sources, parts: () => parts, newWriter: () => new JsonPartsWriter() });
  }

  /** Returns the document at a key such as `apis/apps/v1`; undefined if there is none. */
  v3(key: string): Promise<EncodedDocument> | undefined {
    this.#followTypes();
    const plan = this.#plans.get(key);
    return plan && this.#document(key, plan);
  }

  /** Returns the same in protobuf. */
  v3Protobuf(key: string): Promise<EncodedDocument> | undefined {
    this.#followTypes();
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
    this.#followTypes();
    const others = this.#source.remote?.swaggers() ?? [];
    const own = () => openApiV2Parts(this.#source);
    const parts = others.length === 0 ? own : () => mergedSwagger(own(), others);
    return { sources: this.#ofSwagger, parts, newWriter: () => new JsonPartsWriter() };
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
    if (current !== undefined && isEqual(current.sources, plan.sources)) return current.document;
    const making = { sources: plan.sources, document: this.#make(key, plan) };
    this.#making.set(key, making);
    try {
      return await making.document;
    } finally {
      if (this.#making.get(key) === making) this.#making.delete(key);
    }
  }

  async #make(key: string, { sources, parts, newWriter }: Plan): Promise<EncodedDocument> {
    const document = await runSliced(encode(parts(), newWriter()));
    this.#keep(key, { ...document, sources });
    return document;
  }

  #current(key: string, { sources }: Plan): Made | undefined {
    const made = this.#made.get(key);
    return made !== undefined && isEqual(made.sources, sources) ? made : undefined;
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
  #followTypes(): void {
    const { catalog, remote } = this.#source;
    const generation = `${catalog.generation()} ${remote?.generation() ?? 0}`;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#plans = plansOf(this.#source);
    const types = groupVersionsOf(catalog).flatMap((groupVersion) => catalog.resources(groupVersion));
    this.#ofSwagger = [...types, ...(remote?.swaggers() ?? [])];
    this.#ofIndex = [...types, ...(remote === undefined ? [] : [remote.listed(), remote.converted()])];
    for (const [key, { sources }] of this.#made) {
      const json = key.startsWith(protobufKey) ? key.slice(protobufKey.length) : key;
      const current = this.#sourcesOf(json);
      if (current === undefined || !isEqual(current, sources)) this.#made.delete(key);
    }
  }

  #sourcesOf(key: string): readonly object[] | undefined {
    if (key === v3Root) return this.#ofIndex;
    return key === v2Path ? this.#ofSwagger : this.#plans.get(key)?.sources;
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
    plans.set(key, { sources: [], parts: () => generalV3Parts(source, operation), newWriter });
  }
  for (const groupVersion of groupVersionsOf(source.catalog)) {
    const resources = source.catalog.resources(groupVersion);
    const parts = () => openApiV3Parts(source, groupVersion, resources);
    plans.set(documentKey(groupVersion), { sources: resources, parts, newWriter });
  }
  for (const [key, converted] of source.remote?.converted() ?? []) {
    if (plans.has(key)) continue;
    plans.set(key, { sources: [converted], parts: () => convertedSwagger(converted.info, converted.part), newWriter });
  }
  return new Map([...plans].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isEqual(some: readonly object[], others: readonly object[]): boolean {
  return some === others || (some.length === others.length && some.every((one, at) => one === others[at]));
}
