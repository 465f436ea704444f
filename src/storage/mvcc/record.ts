import type { Entry, Key } from "../../api/entry.ts";
import { type Revision, toRevision } from "../../api/revision.ts";
import { uidOf } from "../object-uid.ts";
import type { StoreEvent } from "../store.ts";
import { encodeIndexText, type IndexCache } from "./index-text.ts";

/**
 * Values of the database. Each starts with a checksum over its key and the rest, which detects flipped bits and values
 * under a wrong key:
 *
 *     entry      crc32 · 1 · revision · createRevision · length of uid · length of rest of index · uid · rest · body
 *     tombstone  the same with 2; the body is the last state with the deletion's revision
 *     event      crc32 · 3 · type · revision before (0: none) · key
 *     meta       crc32 · 4 · JSON
 */
const kinds = { entry: 1, tombstone: 2, event: 3, meta: 4 } as const;
const eventTypes = ["ADDED", "MODIFIED", "DELETED"] as const;

const kindAt = 4;
const headerBytes = 5;
const entryHeaderBytes = headerBytes + 8 + 8 + 4 + 4;
const eventHeaderBytes = headerBytes + 1 + 8;

/** The reason why a value is unreadable. The caller knows its key. */
export class DamagedRecordError extends Error {}

export interface EventRecord {
  readonly type: StoreEvent["type"];
  readonly key: Key;
  readonly previousRevision: Revision | undefined;
}

export function encodeEntry(databaseKey: string, entry: Entry, tombstone = false): Buffer {
  const uid = uidOf(entry);
  const rest = encodeIndexText(entry.index);
  const uidBytes = Buffer.byteLength(uid);
  const restBytes = Buffer.byteLength(rest);
  const bodyAt = entryHeaderBytes + uidBytes + restBytes;
  const value = Buffer.allocUnsafe(bodyAt + entry.body.byteLength);
  value[kindAt] = tombstone ? kinds.tombstone : kinds.entry;
  writeRevision(value, entry.revision, headerBytes);
  writeRevision(value, entry.createRevision, headerBytes + 8);
  writeUint32(value, uidBytes, headerBytes + 16);
  writeUint32(value, restBytes, headerBytes + 20);
  value.write(uid, entryHeaderBytes);
  value.write(rest, entryHeaderBytes + uidBytes);
  value.set(entry.body, bodyAt);
  return sign(databaseKey, value);
}

/** Decodes an entry. Copies the body into its own array, so that it does not keep a larger buffer alive. */
export function decodeEntry(databaseKey: string, key: Key, value: Buffer, indexes: IndexCache): Entry {
  const kind = verify(databaseKey, value);
  if (kind !== kinds.entry && kind !== kinds.tombstone) throw new DamagedRecordError(`unexpected kind ${kind}`);
  const uidEnd = entryHeaderBytes + readUint32(value, headerBytes + 16);
  const bodyAt = uidEnd + readUint32(value, headerBytes + 20);
  if (bodyAt > value.length) throw new DamagedRecordError("lengths beyond the value");
  const body = new Uint8Array(value.length - bodyAt);
  value.copy(body, 0, bodyAt);
  const uid = value.toString("utf8", entryHeaderBytes, uidEnd);
  return {
    key,
    revision: readRevision(value, headerBytes),
    createRevision: readRevision(value, headerBytes + 8),
    index: indexes.index(uid, value.toString("utf8", uidEnd, bodyAt), body),
    body,
  };
}

/** Returns the revision of a value that `encodeEntry` made, without a check. */
export function revisionOfEntry(value: Buffer): Revision {
  return readRevision(value, headerBytes);
}

/** Reports whether a value that `decodeEntry` read is a tombstone. */
export function isTombstone(value: Buffer): boolean {
  return value[kindAt] === kinds.tombstone;
}

export function encodeEvent(databaseKey: string, event: StoreEvent): Buffer {
  const { key } = event.entry;
  const value = Buffer.allocUnsafe(eventHeaderBytes + Buffer.byteLength(key));
  value[kindAt] = kinds.event;
  value[headerBytes] = eventTypes.indexOf(event.type);
  writeRevision(value, event.previous?.revision ?? 0, headerBytes + 1);
  value.write(key, eventHeaderBytes);
  return sign(databaseKey, value);
}

export function decodeEvent(databaseKey: string, value: Buffer): EventRecord {
  const kind = verify(databaseKey, value);
  const type = eventTypes[value[headerBytes] as number];
  if (kind !== kinds.event || type === undefined) throw new DamagedRecordError(`unexpected kind ${kind}`);
  const previous = readRevision(value, headerBytes + 1);
  return {
    type,
    key: value.toString("utf8", eventHeaderBytes),
    previousRevision: previous === 0 ? undefined : previous,
  };
}

export function encodeMeta(databaseKey: string, document: unknown): Buffer {
  const text = JSON.stringify(document);
  const value = Buffer.allocUnsafe(headerBytes + Buffer.byteLength(text));
  value[kindAt] = kinds.meta;
  value.write(text, headerBytes);
  return sign(databaseKey, value);
}

export function decodeMeta(databaseKey: string, value: Buffer): unknown {
  const kind = verify(databaseKey, value);
  if (kind !== kinds.meta) throw new DamagedRecordError(`unexpected kind ${kind}`);
  return JSON.parse(value.toString("utf8", headerBytes));
}

function sign(databaseKey: string, value: Buffer): Buffer {
  writeUint32(value, checksum(databaseKey, value), 0);
  return value;
}

/** @throws DamagedRecordError if the value's checksum does not match under this key */
export function verifyRecord(databaseKey: string, value: Buffer): void {
  verify(databaseKey, value);
}

/** Returns the kind of a value whose checksum matches. */
function verify(databaseKey: string, value: Buffer): number {
  if (value.length < headerBytes) throw new DamagedRecordError(`${value.length} bytes are too short for a record`);
  const expected = readUint32(value, 0);
  const actual = checksum(databaseKey, value);
  writeUint32(value, expected, 0);
  if (actual !== expected) throw new DamagedRecordError("its checksum does not match");
  return value[kindAt] as number;
}

/**
 * Returns the checksum of a value, in which the checksum itself is zero. Leaves it zero, because a view of the rest would
 * cost more than the checksum.
 */
function checksum(databaseKey: string, value: Buffer): number {
  writeUint32(value, 0, 0);
  return Bun.hash.crc32(value, Bun.hash.crc32(databaseKey));
}

function writeRevision(value: Buffer, revision: number, at: number): void {
  writeUint32(value, Math.floor(revision / 2 ** 32), at);
  writeUint32(value, revision % 2 ** 32, at + 4);
}

function readRevision(value: Buffer, at: number): Revision {
  return toRevision(readUint32(value, at) * 2 ** 32 + readUint32(value, at + 4));
}

// Byte by byte, because the methods of Buffer first make a view of every buffer that they meet.
function writeUint32(value: Buffer, number: number, at: number): void {
  value[at] = number >>> 24;
  value[at + 1] = number >>> 16;
  value[at + 2] = number >>> 8;
  value[at + 3] = number;
}

function readUint32(value: Buffer, at: number): number {
  const high = ((value[at] as number) << 24) | ((value[at + 1] as number) << 16);
  return (high | ((value[at + 2] as number) << 8) | (value[at + 3] as number)) >>> 0;
}
