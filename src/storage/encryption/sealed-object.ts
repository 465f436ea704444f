import { copyOfBytes } from "../../api/codec/byte-text.ts";
import type { Entry, ObjectIndex } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { encodeIndexText, type IndexCache } from "../mvcc/index-text.ts";
import { uidOf } from "../object-uid.ts";
import { fillGap } from "../resource-version-gap.ts";
import type { ProposedBody } from "../store.ts";

/** The index that the store sees: everything in the real one is as private as the body. */
export const sealedIndex: ObjectIndex = {
  apiVersion: "",
  uid: "",
  labels: undefined,
  fields: undefined,
  owners: undefined,
};

const headerBytes = 3 * 4;

/**
 * The content of an encrypted body. Its index is part of it:
 *
 *     length of uid · of rest of index · of prefix · uid · rest of index · prefix · suffix
 */
export function packObject(index: ObjectIndex, { prefix, suffix }: ProposedBody): Uint8Array {
  const uid = Buffer.from(uidOf({ index, body: prefix }));
  const rest = Buffer.from(encodeIndexText(index));
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(uid.length, 0);
  header.writeUInt32BE(rest.length, 4);
  header.writeUInt32BE(prefix.length, 8);
  return Buffer.concat([header, uid, rest, prefix, suffix]);
}

/**
 * Returns the plain form of an entry.
 * @throws Error for other content, which only a cipher without authentication lets through
 */
export function unpackObject(plain: Uint8Array, sealed: Entry, indexes: IndexCache): Entry {
  const bytes = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
  if (bytes.length < headerBytes) throw malformed();
  const uidEnd = headerBytes + bytes.readUInt32BE(0);
  const restEnd = uidEnd + bytes.readUInt32BE(4);
  const prefixEnd = restEnd + bytes.readUInt32BE(8);
  if (prefixEnd > bytes.length) throw malformed();
  const body = { prefix: bytes.subarray(restEnd, prefixEnd), suffix: bytes.subarray(prefixEnd) };
  return {
    key: sealed.key,
    revision: sealed.revision,
    createRevision: sealed.createRevision,
    index: indexes.index(
      bytes.toString("utf8", headerBytes, uidEnd),
      bytes.toString("utf8", uidEnd, restEnd),
      body.prefix,
    ),
    body: fillGap(body, sealed.revision),
  };
}

function malformed(): Error {
  return new Error("the decrypted data is not an object");
}

/** Makes the body that the store sees. The revision follows the ciphertext. */
export function sealedBody(ciphertext: Uint8Array): ProposedBody {
  return { prefix: ciphertext, suffix: new Uint8Array() };
}

/** Returns the ciphertext of a body at a revision. */
export function ciphertextOf(body: Uint8Array, revision: Revision): Uint8Array {
  return copyOfBytes(body, 0, body.length - String(revision).length);
}
