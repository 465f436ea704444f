import { openReplica, type ReplicaOptions } from "../../src/storage/replicated/open-replica.ts";
import type { ReplicatedStore } from "../../src/storage/replicated/replicated-store.ts";

/** The store of a replica that is alone, as soon as it is what it was. */
export async function openAlone(options: ReplicaOptions): Promise<ReplicatedStore> {
  const { store } = await openReplica(options);
  try {
    await store.readBarrier();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
