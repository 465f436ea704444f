import { bodyIncludes, decodeEntry } from "../../api/codec/stored-object.ts";
import type { Key } from "../../api/entry.ts";
import { formatTime } from "../../api/time.ts";
import type { Pod, PodCondition } from "../../api/types/core-v1.ts";
import { setPodCondition } from "../../kinds/core/pod-condition.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Store } from "../../storage/store.ts";
import { followEntries } from "../follow-entries.ts";
import { namesOf } from "../object-key.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";

/** Time after which a pod that was to be disrupted, but was not deleted, loses the condition. */
export const staleTargetMs = 120_000;
const conditionType = "DisruptionTarget";
/** Text in the body of every pod with the condition. */
const mark = Buffer.from(JSON.stringify(conditionType));
/** A node agent may take any time until it deletes the pod. */
const byNodeAgent = "TerminationByKubelet";

export interface StaleTargetsParts extends QueueSource {
  readonly pods: Registry;
  readonly podStatus: Strategy;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes the condition DisruptionTarget from pods that were not deleted after all. */
export function startStaleTargets(parts: StaleTargetsParts): Disposable {
  const { pods, store, clock, observeQueue, onError } = parts;
  const running = new DisposableStack();
  const work = (key: Key) => takeBack(parts, queue, key);
  const queue: WorkQueue = running.use(
    new WorkQueue({ name: "stale_pod_disruption", clock, observeQueue, onError, work }),
  );
  running.use(
    followEntries({ store, prefix: pods.info.keyPrefix, onError }, (entry, type) => {
      if (type !== "DELETED" && bodyIncludes(entry, mark)) queue.add(entry.key);
    }),
  );
  return running;
}

async function takeBack(parts: StaleTargetsParts, queue: WorkQueue, key: Key): Promise<void> {
  const { pods, podStatus, store, clock } = parts;
  const entry = store.get(key);
  const pod = entry === undefined ? undefined : (decodeEntry(entry, pods.info) as Pod);
  const since = pod && targetSinceMs(pod);
  if (since === undefined) return;
  const waitMs = since + staleTargetMs - clock.nowMs();
  if (waitMs > 0) return queue.addAfter(key, waitMs);
  const { namespace, name } = namesOf(pods, key);
  const reset = (old: Pod) => {
    const sinceMs = targetSinceMs(old);
    if (sinceMs === undefined || clock.nowMs() < sinceMs + staleTargetMs) return old;
    const { generation } = old.metadata;
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    const condition: PodCondition = { type: conditionType, status: "False", ...observed };
    setPodCondition(old, condition, formatTime(clock.nowMs()));
    return old;
  };
  const options = { strategy: podStatus, subresource: "status", reapplies: true };
  await pods.update(namespace, name, reset, controllerManagerContext, options);
}

/** Returns the time since which the pod is to be disrupted, if it is neither being deleted nor has ended. */
function targetSinceMs({ metadata, status }: Pod): number | undefined {
  const condition = status?.conditions?.find(({ type }) => type === conditionType);
  const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
  if (condition?.status !== "True" || condition.reason === byNodeAgent) return undefined;
  if (isOver || metadata.deletionTimestamp !== undefined) return undefined;
  return Date.parse(condition.lastTransitionTime ?? "") || 0;
}
