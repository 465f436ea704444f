import type { Informer } from "../../client/informer.ts";
import { atMost } from "../../process/at-most.ts";
import type { Clock } from "../../process/clock.ts";

/** Time for the first answer of the server, as kubelet's. */
const syncMsMax = 1_000;

/** Waits for the first list of an informer. @throws Error with the problem if the server does not send it in time */
export async function requireList(
  informer: Pick<Informer<never>, "isSynced" | "synced" | "retryNow">,
  clock: Clock,
  problem: string,
): Promise<void> {
  if (informer.isSynced) return;
  // The server may allow now what it refused before it knew of the pod.
  informer.retryNow();
  await atMost(clock, syncMsMax, informer.synced);
  if (!informer.isSynced) throw new Error(problem);
}
