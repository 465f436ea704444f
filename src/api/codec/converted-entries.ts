import { type Eventual, followedBy } from "../../process/eventual.ts";
import type { Entry } from "../entry.ts";
import { apiVersionOf } from "../gvk.ts";
import { JointCall, type SignalSource } from "../joint-call.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../object-meta.ts";
import type { ResourceInfo, VersionConverter } from "../scheme/resource.ts";
import { status } from "../status.ts";
import { toBytes } from "./byte-text.ts";
import type { EntryCache } from "./entry-cache.ts";
import { stringifyJson } from "./json.ts";
import { decodeAsWritten } from "./stored-object.ts";

/** Limit of the objects and of their bytes in one call of the converter. A larger object is converted alone. */
export const chunkObjectsMax = 512;
export const chunkBytesMax = 2 * 1024 * 1024;
/** Tells the entries of converters apart in a cache that they share. */
let convertersMade = 0;

/**
 * Entries of a kind, converted to versions other than the one they were written in. Watches, lists and reads of the
 * same version share conversions: results are kept, and callers join a conversion that is already running.
 */
export class ConvertedEntries {
  readonly #converter: VersionConverter;
  /** Kept entries by converter, version, key and revision, which together determine the bytes. */
  readonly #kept: EntryCache;
  readonly #id = ++convertersMade;
  /** Running conversions. Each belongs to a waiting request or watch, so their number is limited. */
  readonly #underWay = new Map<string, { readonly call: JointCall; readonly result: Promise<Entry> }>();

  constructor(converter: VersionConverter, kept: EntryCache) {
    this.#converter = converter;
    this.#kept = kept;
  }

  /** Stops when the caller has gone, unless others wait for the same. @throws StatusError, also as a rejection */
  convert(entries: readonly Entry[], to: ResourceInfo, signalOf?: SignalSource): Eventual<readonly Entry[]> {
    const found = new Map<Entry, Entry>();
    const joined: { entry: Entry; result: Promise<Entry> }[] = [];
    const joinedCalls = new Set<JointCall>();
    const missing: Entry[] = [];
    for (const entry of entries) {
      if (this.#converter.servesBody(entry, to)) continue;
      const name = this.#nameOf(entry, to);
      const kept = this.#kept.get(name);
      const underWay = this.#underWay.get(name);
      if (kept !== undefined) found.set(entry, kept);
      else if (underWay === undefined || underWay.call.signal.aborted) missing.push(entry);
      else {
        joined.push({ entry, result: underWay.result });
        joinedCalls.add(underWay.call);
      }
    }
    const signal = missing.length + joined.length === 0 ? undefined : signalOf?.();
    // May throw at once, so the promises of others get their handlers after it.
    const done = this.#convertChunks(chunksOf(missing), 0, { to, found, signal });
    for (const call of joinedCalls) call.join(signal);
    const awaited = joined.map(({ entry, result }) => result.then((converted) => void found.set(entry, converted)));
    const all = awaited.length === 0 ? done : Promise.all([done, ...awaited]);
    const heeded = all instanceof Promise ? whileWaitedFor<unknown>(all, signal) : all;
    return followedBy<unknown, readonly Entry[]>(heeded, () => entries.map((entry) => found.get(entry) ?? entry));
  }

  /** Converts one chunk after the other, starting at `from`. */
  #convertChunks(chunks: readonly (readonly Entry[])[], from: number, run: Run): Eventual<void> {
    for (let at = from; at < chunks.length; at++) {
      if (run.signal?.aborted === true) throw abandoned();
      const pending = this.#convertChunk(chunks[at] as readonly Entry[], run);
      if (pending !== undefined) return pending.then(() => this.#convertChunks(chunks, at + 1, run));
    }
  }

  #convertChunk(chunk: readonly Entry[], { to, found, signal }: Run): Promise<void> | undefined {
    const objects = chunk.map((entry) => decodeAsWritten(entry, to));
    const call = new JointCall();
    call.join(signal);
    const converted = this.#converter.convert(objects, to, () => call.signal);
    if (!(converted instanceof Promise)) {
      for (const [at, entry] of chunk.entries()) found.set(entry, this.#keep(entry, converted[at] as KubeObject, to));
      return undefined;
    }
    const results = chunk.map((entry, at) => {
      const name = this.#nameOf(entry, to);
      const result = converted
        .then((all) => this.#keep(entry, all[at] as KubeObject, to))
        .finally(() => {
          if (this.#underWay.get(name)?.call === call) this.#underWay.delete(name);
        });
      this.#underWay.set(name, { call, result });
      return result.then((prepared) => void found.set(entry, prepared));
    });
    return Promise.all(results).then(() => undefined);
  }

  #keep(entry: Entry, object: KubeObject, to: ResourceInfo): Entry {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...fields } = object;
    const body = toBytes(stringifyJson({ metadata, ...fields } as unknown as JsonObject));
    const converted = { ...entry, index: { ...entry.index, apiVersion: apiVersionOf(to) }, body };
    this.#kept.set(this.#nameOf(entry, to), converted);
    return converted;
  }

  #nameOf({ key, revision }: Entry, to: ResourceInfo): string {
    return `${this.#id} ${revision} ${to.version} ${key}`;
  }
}

/** The conversion of one caller. */
interface Run {
  readonly to: ResourceInfo;
  readonly found: Map<Entry, Entry>;
  readonly signal: AbortSignal | undefined;
}

async function whileWaitedFor<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise: gone, reject } = Promise.withResolvers<never>();
  const abort = () => reject(abandoned());
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([gone, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function abandoned(): Error {
  return status.timeout("request did not complete within requested timeout");
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
