import type { Entry } from "../entry.ts";
import { type Eventual, followedBy } from "../eventual.ts";
import type { ResourceInfo, VersionConverter } from "../scheme/resource.ts";
import { ConvertedEntries } from "./converted-entries.ts";

/**
 * Converts entries to a form that can be encoded without waiting in the version `info`. Returns entries of a kind
 * without a converter unchanged.
 * @throws StatusError, also as a rejection
 */
export function prepareEntries(entries: readonly Entry[], info: ResourceInfo): Eventual<readonly Entry[]> {
  const { converter } = info;
  if (converter === undefined || entries.every((entry) => converter.servesBody(entry, info))) return entries;
  return convertedOf(converter).convert(entries, info);
}

/** @throws StatusError, also as a rejection */
export function prepareEntry(entry: Entry, info: ResourceInfo): Eventual<Entry> {
  if (info.converter === undefined) return entry;
  return followedBy(prepareEntries([entry], info), ([prepared]) => prepared as Entry);
}

/** Converted entries live as long as the converter that made them. */
const kept = new WeakMap<VersionConverter, ConvertedEntries>();

function convertedOf(converter: VersionConverter): ConvertedEntries {
  let converted = kept.get(converter);
  if (converted === undefined) {
    converted = new ConvertedEntries(converter);
    kept.set(converter, converted);
  }
  return converted;
}
