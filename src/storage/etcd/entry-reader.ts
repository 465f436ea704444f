import type { Entry, Key } from "../../api/entry.ts";
import { type Revision, toRevision } from "../../api/revision.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { fillGap, splitAtResourceVersion } from "../resource-version-gap.ts";
import { CorruptEntryError } from "../store.ts";
import { type KeyValue, numberOf } from "./client/messages.ts";
import type { EtcdLayout } from "./layout/layout.ts";

/** An object, or the reason why it cannot be read. */
export type ReadEntry = Entry | CorruptEntryError;

/** Decodes the value of a key. Returns a promise only if a key service has to be asked. */
export function readEntry(layout: EtcdLayout, key: Key, kv: KeyValue): ReadEntry | Promise<ReadEntry> {
  const revisions = {
    createRevision: toRevision(numberOf(kv.createRevision)),
    modRevision: toRevision(numberOf(kv.modRevision)),
  };
  try {
    const entry = layout.entryOf(key, kv.value, revisions);
    return entry instanceof Promise ? entry.catch((error: unknown) => corrupt(key, error)) : entry;
  } catch (error) {
    return corrupt(key, error);
  }
}

/** Returns the last state of a deleted object with the revision of the deletion. */
export function deletedEntry(last: Entry, revision: Revision): Entry {
  return { ...last, revision, body: fillGap(splitAtResourceVersion(last.body), revision) };
}

function corrupt(key: Key, error: unknown): CorruptEntryError {
  return error instanceof CorruptEntryError ? error : new CorruptEntryError(key, thrownText(error));
}
