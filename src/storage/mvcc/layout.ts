import { type Revision, toRevision } from "../../api/revision.ts";
import type { Key } from "../../api/entry.ts";

/**
 * Keys of the database. Revisions are fixed-width hexadecimal, most significant digit first, so that the database's
 * byte order is the order of revisions; the separator sorts below every character of a key, so that the versions of one
 * key stand together, in the order of keys, by age.
 *
 *     c <key>                    current object
 *     v <key> NUL <revision>     superseded version, or tombstone
 *     e <revision>               event
 *     m <name>                   what the store knows of itself
 */
const current = "c";
const version = "v";
const event = "e";
const meta = "m";
const separator = "\0";
/** 2^53 has 14 hexadecimal digits. */
const revisionDigits = 14;

export interface KeyRange {
  readonly gte: string;
  readonly lt: string;
}

export function currentKey(key: Key): string {
  return current + key;
}
export function versionKey(key: Key, revision: Revision): string {
  return version + key + separator + revisionText(revision);
}
export function eventKey(revision: Revision): string {
  return event + revisionText(revision);
}
export function metaKey(name: string): string {
  return meta + name;
}

export function parseCurrentKey(databaseKey: string): Key {
  return databaseKey.slice(current.length);
}
export function parseVersionKey(databaseKey: string): { readonly key: Key; readonly revision: Revision } {
  const at = databaseKey.length - revisionDigits;
  return {
    key: databaseKey.slice(version.length, at - separator.length),
    revision: parseRevision(databaseKey.slice(at)),
  };
}
export function parseEventKey(databaseKey: string): Revision {
  return parseRevision(databaseKey.slice(event.length));
}

export const everyCurrent: KeyRange = { gte: current, lt: after(current) };

/** All that belongs to the state; what the store knows of itself stays with the database that it is in. */
export const everyRecord: KeyRange & { readonly keys: true } = { gte: current, lt: after(version), keys: true };

/**
 * Versions of every key below `prefix` from `start` on, up to and including those of `last`. A `start` that is a key and a
 * NUL is the place just behind that key, so none of its versions are meant.
 */
export function versionRange(prefix: Key, start: Key, last: Key | undefined): KeyRange {
  const end = last === undefined ? after(version + prefix) : version + last + after(separator);
  const first = start > prefix ? start : prefix;
  return { gte: version + (first.endsWith(separator) ? after(first) : first), lt: end };
}

/** Events with a revision in [from, to]. */
export function eventRange(from: Revision, to: Revision): { readonly gte: string; readonly lte: string } {
  return { gte: eventKey(from), lte: eventKey(to) };
}

/** A key that the database can hold and give back: no separator in it, no half of a surrogate pair. */
export function assertStorable(key: Key): void {
  if (key.includes(separator) || !key.isWellFormed()) throw new RangeError(`not a storage key: ${JSON.stringify(key)}`);
}

/** The first text behind all that start with `text`. */
function after(text: string): string {
  const last = text.length - 1;
  return text.slice(0, last) + String.fromCharCode(text.charCodeAt(last) + 1);
}

function revisionText(revision: Revision): string {
  return revision.toString(16).padStart(revisionDigits, "0");
}

function parseRevision(text: string): Revision {
  return toRevision(Number.parseInt(text, 16));
}
