import { type Eventual, followedBy } from "../../process/eventual.ts";
import type { Entry } from "../entry.ts";
import type { SignalSource } from "../joint-call.ts";
import type { ResourceInfo, VersionConverter } from "../scheme/resource.ts";
import { ConvertedEntries } from "./converted-entries.ts";
import { EntryCache } from "./entry-cache.ts";

/**
 * Converts entries to a form that can be encoded without waiting in the version `info`. Returns entries of a kind
 * without a converter unchanged. Stops when the caller has gone.
 * @throws StatusError, also as a rejection
 */
export function prepareEntries(
  entries: readonly Entry[],
  info: ResourceInfo,
  signalOf?: SignalSource,
): Eventual<readonly Entry[]> {
  const { converter } = info;
  if (converter === undefined || entries.every((entry) => converter.servesBody(entry, info))) return entries;
  return convertedOf(converter).convert(entries, info, signalOf);
}

/** @throws StatusError, also as a rejection */
export function prepareEntry(entry: Entry, info: ResourceInfo, signalOf?: SignalSource): Eventual<Entry> {
  if (info.converter === undefined) return entry;
  return followedBy(prepareEntries([entry], info, signalOf), ([prepared]) => prepared as Entry);
}

/** Limit of the bytes of converted bodies that are kept, of all kinds together. */
const keptBytesMax = 32 * 1024 * 1024;
const kept = new EntryCache(keptBytesMax);

const converters = new WeakMap<VersionConverter, ConvertedEntries>();

function convertedOf(converter: VersionConverter): ConvertedEntries {
  let converted = converters.get(converter);
  if (converted === undefined) {
    converted = new ConvertedEntries(converter, kept);
    converters.set(converter, converted);
  }
  return converted;
}
