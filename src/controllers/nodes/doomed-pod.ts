import type { Key } from "../../api/entry.ts";
import { StatusError } from "../../api/status.ts";
import { formatTime } from "../../api/time.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { pod as podKind } from "../../kinds/core/pod.ts";
import { setPodCondition } from "../../kinds/core/pod-condition.ts";
import type { Clock } from "../../process/clock.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import { namesOf } from "../object-key.ts";

const status = strategyOf(podKind, "status");

export interface DoomedPodParts {
  readonly pods: Registry;
  readonly clock: Clock;
}

/** Additions to a pod's status before its deletion. */
export interface LastWords {
  /** Condition DisruptionTarget. */
  readonly disruption?: { readonly reason: string; readonly message: string };
  /** Whether to mark the pod as failed. The status of a pod that has ended does not change. */
  readonly fails?: true;
}

/**
 * Writes the reason to the status of a pod and deletes the pod, if it still has this uid.
 * @param gracePeriodSeconds the pod's own by default
 * @returns whether this call deleted the pod
 */
export async function deletePod(
  { pods, clock }: DoomedPodParts,
  { key, uid }: { readonly key: Key; readonly uid: string },
  words: LastWords,
  gracePeriodSeconds?: number,
): Promise<boolean> {
  const { namespace, name } = namesOf(pods, key);
  const now = formatTime(clock.nowMs());
  const transform = (old: Pod) => (old.metadata.uid === uid ? withLastWords(old, words, now) : old);
  try {
    const statusOptions = { strategy: status, subresource: "status", reapplies: true };
    await pods.update(namespace, name, transform, controllerManagerContext, statusOptions);
    const preconditions = { uid, resourceVersion: undefined };
    await pods.delete(
      namespace,
      name,
      { ...plainDeletion, gracePeriodSeconds, preconditions },
      controllerManagerContext,
    );
    return true;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    // Leave another pod of the same name alone.
    if (error.code === 404 || pods.current(namespace, name)?.metadata.uid !== uid) return false;
    throw error;
  }
}

function withLastWords(pod: Pod, { disruption, fails }: LastWords, now: string): Pod {
  const { generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const next: Pod = { ...pod };
  if (fails === true) {
    if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return pod;
    next.status = { ...pod.status, ...observed, phase: "Failed" };
  }
  if (disruption !== undefined) {
    setPodCondition(next, { type: "DisruptionTarget", status: "True", ...observed, ...disruption }, now);
  }
  return next;
}
