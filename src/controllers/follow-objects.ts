import type { Key } from "../api/entry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";

/** Reports every object below `prefix`: existing ones as ADDED, then every change. */
export function followObjects(
  store: Store,
  prefix: Key,
  onChange: (key: Key, type: StoreEvent["type"]) => void,
): Disposable {
  for (const { key } of store.scan(prefix)) onChange(key, "ADDED");
  return followChanges(store, prefix, onChange);
}

/** Reports every change of an object below `prefix`. */
export function followChanges(
  store: Store,
  prefix: Key,
  onChange: (key: Key, type: StoreEvent["type"]) => void,
): Disposable {
  return store.subscribe((events) => {
    for (const { entry, type } of events) if (entry.key.startsWith(prefix)) onChange(entry.key, type);
  });
}
