import type { Key } from "../../api/entry.ts";
import { type Revision, toRevision } from "../../api/revision.ts";

/**
 * Keys of the database. Revisions are fixed-width hexadecimal, most significant digit first, so that the byte order of
 * the database is the order of revisions. The separator sorts below every character of a key. The versions of one key
 * are therefore adjacent, in key order and then by age.
 *
 *     c <key>                    current object
 *     v <key> NUL <revision>     superseded version, or tombstone
 *     e <revision>               event
 *     m <name>                   metadata of the store
 */
const current = "c";
const version = "v";
const event = "e";
const meta = "m";
const separator = "\0";
/** Hexadecimal digits of 2^53. */
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

export const everyVersion: KeyRange = { gte: version, lt: after(version) };

/** All records of the state. The store's own metadata stays with its database. */
export const everyRecord: KeyRange & { readonly keys: true } = { gte: current, lt: after(version), keys: true };

/**
 * Returns the range of versions of every key below `prefix` from `start` on, up to and including those of `last`. A
 * `start` that consists of a key and NUL means the position after all versions of that key.
 */
export function versionRange(prefix: Key, start: Key, last: Key | undefined): KeyRange {
  const end = last === undefined ? after(version + prefix) : version + last + after(separator);
  const first = start > prefix ? start : prefix;
  return { gte: version + (first.endsWith(separator) ? after(first) : first), lt: end };
}

/** Returns the range of events with a revision in [from, to]. */
export function eventRange(from: Revision, to: Revision): { readonly gte: string; readonly lte: string } {
  return { gte: eventKey(from), lte: eventKey(to) };
}

/** Checks that the database can hold a key and return it: no separator and no unpaired surrogate. */
export function assertStorable(key: Key): void {
  if (key.includes(separator) || !key.isWellFormed()) throw new RangeError(`not a storage key: ${JSON.stringify(key)}`);
}

/** Returns the first text after all texts that start with `text`. */
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
