import type { Entry, Key } from "../api/entry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import { SlicedWork } from "./sliced-work.ts";

export interface FollowEntriesParts {
  readonly store: Store;
  readonly prefix: Key;
  readonly onError: (error: unknown) => void;
}

/**
 * Reports the entry of every object below `prefix`: existing ones as ADDED, then every change. Looking into many bodies
 * takes long, so the existing ones are reported in slices. A change may therefore come before the object is ADDED.
 */
export function followEntries(
  { store, prefix, onError }: FollowEntriesParts,
  onEntry: (entry: Entry, type: StoreEvent["type"]) => void,
): Disposable {
  const running = new DisposableStack();
  running.use(
    store.subscribe((events) => {
      for (const { entry, type } of events) if (entry.key.startsWith(prefix)) onEntry(entry, type);
    }),
  );
  const reading = running.use(new SlicedWork(onError));
  reading.add(function* () {
    for (const { key } of store.scan(prefix)) {
      // The object may have changed or gone since the scan.
      const entry = store.get(key);
      if (entry !== undefined) onEntry(entry, "ADDED");
      yield;
    }
  });
  return running;
}
