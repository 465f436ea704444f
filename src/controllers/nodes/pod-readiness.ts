import type { Key } from "../../api/entry.ts";
import { formatTime } from "../../api/time.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { pod as podKind } from "../../kinds/core/pod.ts";
import type { Clock } from "../../process/clock.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { RecordEvent } from "../events/record-event.ts";
import { namesOf } from "../object-key.ts";
import { unlessGone } from "../unless-gone.ts";

const status = strategyOf(podKind, "status");

export interface PodReadinessParts {
  readonly pods: Registry;
  readonly clock: Clock;
  readonly record: RecordEvent;
}

/** Sets the condition Ready of a pod to False, because its node is not ready. */
export async function markPodNotReady(
  { pods, clock, record }: PodReadinessParts,
  key: Key,
  node: string,
): Promise<void> {
  const { namespace, name } = namesOf(pods, key);
  const current = pods.current(namespace, name);
  if (current === undefined || withoutReadiness(current, node, "") === undefined) return;
  let isMarked = false;
  const mark = (old: Pod): Pod => {
    const marked = withoutReadiness(old, node, formatTime(clock.nowMs()));
    isMarked = marked !== undefined;
    return marked ?? old;
  };
  const options = { strategy: status, subresource: "status", reapplies: true };
  const updated = await unlessGone(pods.update(namespace, name, mark, controllerManagerContext, options));
  if (updated === undefined || !isMarked) return;
  record(updated.object, { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
}

/** Returns undefined if the pod is on another node, or already not ready. */
function withoutReadiness(pod: Pod, node: string, now: string): Pod | undefined {
  const conditions = pod.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  if (pod.spec?.nodeName !== node || ready === undefined || ready.status === "False") return undefined;
  const next = { ...ready, status: "False", lastTransitionTime: now };
  return { ...pod, status: { ...pod.status, conditions: conditions.map((one) => (one === ready ? next : one)) } };
}
