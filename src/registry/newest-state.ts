import type { Entry, Key } from "../api/entry.ts";
import { StatusError } from "../api/status.ts";
import type { Store } from "../storage/store.ts";

/**
 * Makes one guarded attempt on an object as this replica knows it. That may not include a write which another replica
 * has acknowledged, so a refusal or "no change" only counts if the state is the newest.
 * @returns undefined when the caller has to retry
 */
export async function attemptOnNewest<Result>(
  store: Pick<Store, "get" | "readBarrier">,
  key: Key,
  write: (entry: Entry | undefined) => Promise<Result | undefined>,
  isWritten: (result: Result, entry: Entry | undefined) => boolean,
): Promise<Result | undefined> {
  const entry = store.get(key);
  const isStale = async () => {
    await store.readBarrier();
    return store.get(key) !== entry;
  };
  try {
    const result = await write(entry);
    if (result === undefined || isWritten(result, entry)) return result;
    return (await isStale()) ? undefined : result;
  } catch (error) {
    if (error instanceof StatusError && (await isStale())) return undefined;
    throw error;
  }
}
