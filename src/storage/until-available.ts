import { type Store, StoreUnavailableError } from "./store.ts";

/**
 * Runs what may be run again, until there is a quorum that answers. Each attempt has waited for one already.
 * @throws what `run` throws, but for a store that may answer later
 */
export async function untilAvailable<T>(store: Pick<Store, "failure">, run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || store.failure !== undefined) throw error;
    }
  }
}
