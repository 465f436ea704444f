import type { Entry } from "../entry.ts";
import { type Eventual, followedBy } from "../eventual.ts";
import { apiVersionOf } from "../gvk.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../object-meta.ts";
import type { ResourceInfo, VersionConverter } from "../scheme/resource.ts";
import { toBytes } from "./byte-text.ts";
import { stringifyJson } from "./json.ts";
import { decodeAsWritten } from "./stored-object.ts";

/** Limit of the objects and of their bytes in one call of the converter. A larger object is converted alone. */
export const chunkObjectsMax = 512;
export const chunkBytesMax = 2 * 1024 * 1024;
/** Limit of the bytes of converted bodies that are kept; the least recently used are dropped first. */
export const keptBytesMax = 8 * 1024 * 1024;

/**
 * Entries of a kind, converted to versions other than the one they were written in. Watches, lists and reads of the
 * same version share conversions: results are kept, and callers join a conversion that is already running.
 */
export class ConvertedEntries {
  readonly #converter: VersionConverter;
  /** Kept entries by version, key and revision, which together determine the bytes; least recently used first. */
  readonly #kept = new Map<string, Entry>();
  #keptBytes = 0;
  /** Running conversions: at most as many as there are waiting requests and watches. */
  readonly #underWay = new Map<string, Promise<Entry>>();

  constructor(converter: VersionConverter) {
    this.#converter = converter;
  }

  /** @throws StatusError, also as a rejection */
  convert(entries: readonly Entry[], to: ResourceInfo): Eventual<readonly Entry[]> {
    const found = new Map<Entry, Entry>();
    const awaited: Promise<void>[] = [];
    const missing: Entry[] = [];
    for (const entry of entries) {
      if (this.#converter.servesBody(entry, to)) continue;
      const name = nameOf(entry, to);
      const kept = this.#touch(name);
      const underWay = this.#underWay.get(name);
      if (kept !== undefined) found.set(entry, kept);
      else if (underWay === undefined) missing.push(entry);
      else awaited.push(underWay.then((converted) => void found.set(entry, converted)));
    }
    const done = this.#convertChunks(chunksOf(missing), 0, to, found);
    const all = awaited.length === 0 ? done : Promise.all([done, ...awaited]);
    return followedBy<unknown, readonly Entry[]>(all, () => entries.map((entry) => found.get(entry) ?? entry));
  }

  /** Converts one chunk after the other, starting at `from`. */
  #convertChunks(
    chunks: readonly (readonly Entry[])[],
    from: number,
    to: ResourceInfo,
    found: Map<Entry, Entry>,
  ): Eventual<void> {
    for (let at = from; at < chunks.length; at++) {
      const pending = this.#convertChunk(chunks[at] as readonly Entry[], to, found);
      if (pending !== undefined) return pending.then(() => this.#convertChunks(chunks, at + 1, to, found));
    }
  }

  #convertChunk(chunk: readonly Entry[], to: ResourceInfo, found: Map<Entry, Entry>): Promise<void> | undefined {
    const objects = chunk.map((entry) => decodeAsWritten(entry, to));
    const converted = this.#converter.convert(objects, to);
    if (!(converted instanceof Promise)) {
      for (const [at, entry] of chunk.entries()) found.set(entry, this.#keep(entry, converted[at] as KubeObject, to));
      return undefined;
    }
    const results = chunk.map((entry, at) => {
      const name = nameOf(entry, to);
      const result = converted
        .then((all) => this.#keep(entry, all[at] as KubeObject, to))
        .finally(() => this.#underWay.delete(name));
      this.#underWay.set(name, result);
      return result.then((prepared) => void found.set(entry, prepared));
    });
    return Promise.all(results).then(() => undefined);
  }

  #touch(name: string): Entry | undefined {
    const entry = this.#kept.get(name);
    if (entry === undefined) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, entry);
    return entry;
  }

  #keep(entry: Entry, object: KubeObject, to: ResourceInfo): Entry {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...fields } = object;
    const body = toBytes(stringifyJson({ metadata, ...fields } as unknown as JsonObject));
    const converted = { ...entry, index: { ...entry.index, apiVersion: apiVersionOf(to) }, body };
    const name = nameOf(entry, to);
    this.#drop(name);
    this.#kept.set(name, converted);
    this.#keptBytes += body.byteLength;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= keptBytesMax) break;
      this.#drop(oldest);
    }
    return converted;
  }

  #drop(name: string): void {
    const entry = this.#kept.get(name);
    if (entry === undefined) return;
    this.#kept.delete(name);
    this.#keptBytes -= entry.body.byteLength;
  }
}

function nameOf({ key, revision }: Entry, to: ResourceInfo): string {
  return `${revision} ${to.version} ${key}`;
}

function chunksOf(entries: readonly Entry[]): Entry[][] {
  const chunks: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const last = chunks.at(-1);
    if (last === undefined || last.length === chunkObjectsMax || bytes + entry.body.byteLength > chunkBytesMax) {
      chunks.push([entry]);
      bytes = entry.body.byteLength;
    } else {
      last.push(entry);
      bytes += entry.body.byteLength;
    }
  }
  return chunks;
}
