import type { Pod, PodCondition } from "../../api/types/core-v1.ts";

/** Sets a condition in place of an older one of its type. Its time changes with its status. `now` is RFC 3339. */
export function setPodCondition(pod: Pod, condition: PodCondition, now: string): void {
  const conditions = pod.status?.conditions ?? [];
  const old = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
  const entered = { ...condition, lastTransitionTime };
  const next = old === undefined ? [...conditions, entered] : conditions.map((one) => (one === old ? entered : one));
  pod.status = { ...pod.status, conditions: next };
}
