import { type Store, StoreUnavailableError } from "./store.ts";

/**
 * Runs a repeatable operation until a quorum answers. Each attempt has already waited for one.
 * @throws the error of `run`, unless the store may answer later
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
