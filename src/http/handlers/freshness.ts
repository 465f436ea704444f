import type { Revision } from "../../api/revision.ts";
import { status } from "../../api/status.ts";
import type { Store } from "../../storage/store.ts";

/** Maximum time that a read waits for a revision that this replica does not have yet. */
export const revisionWaitMsMax = 3_000;

/** Waits until local state may serve a read at `version`. Returns undefined if it already may. */
export function waitForVersion(store: Store, version: number | undefined): Promise<void> | undefined {
  if (version === undefined) {
    const barrier = store.readBarrier();
    return barrier instanceof Promise ? barrier.then(() => {}) : undefined;
  }
  return version <= store.revision ? undefined : waitForRevision(store, version);
}

/** @throws StatusError 504 */
async function waitForRevision(store: Store, version: number): Promise<void> {
  if (await store.waitFor(version as Revision, revisionWaitMsMax)) return;
  throw status.tooLargeResourceVersion(version, store.revision);
}
