import { openReplica, type ReplicaOptions } from "../../src/storage/replicated/open-replica.ts";
import type { ReplicatedStore } from "../../src/storage/replicated/replicated-store.ts";

/** Opens the store of a single replica, and resolves once its former state is restored. */
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
