import type { Entry } from "../../../api/entry.ts";
import type { IndexCache } from "../../mvcc/index-text.ts";
import { decodeEntry, encodeEntry } from "../../mvcc/record.ts";
import type { StoreEvent } from "../../store.ts";

/** The role of an entry in a list: an object, or the new state of an event. The state before, if any, follows as an object. */
const roles = ["OBJECT", "ADDED", "MODIFIED", "DELETED"] as const;
const headerBytes = 9;

type Role = (typeof roles)[number];

/**
 * Entries or events as bytes. Each value is what the database stores, with its checksum:
 *
 *     role · length of key · length of value · key · value
 */
export class EntryList {
  readonly parts: Uint8Array[] = [];
  bytes = 0;

  add(entry: Entry, role: Role = "OBJECT"): void {
    const key = Buffer.from(entry.key);
    const value = encodeEntry(entry.key, entry);
    const header = Buffer.allocUnsafe(headerBytes);
    header[0] = roles.indexOf(role);
    header.writeUInt32BE(key.length, 1);
    header.writeUInt32BE(value.length, 5);
    this.parts.push(header, key, value);
    this.bytes += headerBytes + key.length + value.length;
  }

  addEvent({ type, entry, previous }: StoreEvent): void {
    this.add(entry, type);
    if (previous !== undefined) this.add(previous);
  }
}

/** Reads a list of objects. */
export function readEntries(bytes: Buffer, indexes: IndexCache): Entry[] {
  return [...listed(bytes, indexes)].map(([, entry]) => entry);
}

/** Reads a list of events. */
export function readEvents(bytes: Buffer, indexes: IndexCache): StoreEvent[] {
  const events: StoreEvent[] = [];
  for (const [role, entry] of listed(bytes, indexes)) {
    if (role !== "OBJECT") events.push({ revision: entry.revision, type: role, entry, previous: undefined });
    else events.push({ ...(events.pop() as StoreEvent), previous: entry });
  }
  return events;
}

function* listed(bytes: Buffer, indexes: IndexCache): Generator<[Role, Entry]> {
  for (let at = 0; at < bytes.length; ) {
    const keyAt = at + headerBytes;
    const valueAt = keyAt + bytes.readUInt32BE(at + 1);
    const end = valueAt + bytes.readUInt32BE(at + 5);
    const key = bytes.toString("utf8", keyAt, valueAt);
    yield [roles[bytes[at] as number] as Role, decodeEntry(key, key, bytes.subarray(valueAt, end), indexes)];
    at = end;
  }
}
