import type { Key } from "../../api/entry.ts";
import { status } from "../../api/status.ts";
import { type Store, UndecryptableEntryError } from "../../storage/store.ts";

/**
 * Returns the keys of damaged objects below a prefix, which reads leave out.
 * @throws StatusError 500 if an object cannot be decrypted. Its key is missing by mistake, so no client may conclude that
 * the object is gone
 */
export function unreadableBelow(store: Pick<Store, "corrupt">, prefix: Key): Key[] {
  const keys: Key[] = [];
  for (const error of store.corrupt) {
    if (!error.key.startsWith(prefix)) continue;
    if (error instanceof UndecryptableEntryError) throw status.internal(error.reason);
    keys.push(error.key);
  }
  return keys;
}
