import type { Entry, Key, ObjectIndex } from "../../../api/entry.ts";
import type { Revision } from "../../../api/revision.ts";
import type { ProposedBody } from "../../store.ts";

/** The revisions that etcd keeps for a key. */
export interface KeyRevisions {
  readonly createRevision: Revision;
  readonly modRevision: Revision;
}

/**
 * The keys and values of a server in etcd. Values have no resourceVersion: etcd's modification revision of the key takes
 * its place.
 */
export interface EtcdLayout {
  /**
   * Returns etcd's key of an object. A prefix that ends in "/" gives the prefix of its objects' keys. Keys have the same
   * order in both forms.
   */
  etcdKey(key: Key): string;
  /** Returns the key of an object; undefined for other keys in etcd, which the store leaves alone. */
  keyOf(etcdKey: string): Key | undefined;
  /**
   * Returns the bytes to put. Equal objects must give equal bytes, unless they are encrypted. A promise is allowed where
   * a key service has to be asked.
   * @throws EncryptionFailedError
   */
  valueOf(key: Key, index: ObjectIndex, body: ProposedBody): Uint8Array | Promise<Uint8Array>;
  /**
   * Returns the object of a value. Its body is alone in its buffer, because the value may be a part of a large message.
   * @throws CorruptEntryError for bytes that cannot be decoded or decrypted
   */
  entryOf(key: Key, value: Uint8Array, revisions: KeyRevisions): Entry | Promise<Entry>;
  /** Reports whether a write would encrypt a current object in another way. */
  isStale(entry: Entry): boolean;
  /** Time in seconds after which etcd deletes an object; undefined to keep it. Upstream: Events and master leases. */
  ttlSecondsOf(key: Key): number | undefined;
}
