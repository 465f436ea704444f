import { status } from "../../api/status.ts";
import type { Revision } from "../../storage/revision.ts";
import type { Store } from "../../storage/store.ts";

/** How long a read waits for a revision that this replica does not have yet. */
export const revisionWaitMsMax = 3_000;

/** Resolves when a read that names `version` may be served from local state. @throws StatusError 504 */
export async function waitForVersion(store: Store, version: number | undefined): Promise<void> {
  if (version === 0) return;
  if (version === undefined) {
    await store.readBarrier();
    return;
  }
  if (version <= store.revision) return;
  if (await store.waitFor(version as Revision, revisionWaitMsMax)) return;
  throw status.tooLargeResourceVersion(version, store.revision);
}
