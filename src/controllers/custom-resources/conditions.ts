import type {
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from "../../api/types/apiextensions-v1.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export function findCondition(
  { conditions }: CustomResourceDefinitionStatus,
  type: string,
): CustomResourceDefinitionCondition | undefined {
  return (conditions ?? []).find((condition) => condition.type === type);
}

export function isTrue(status: CustomResourceDefinitionStatus, type: string): boolean {
  return findCondition(status, type)?.status === "True";
}

/** Sets a condition in place, or adds it at the end. Its time changes only with its status. */
export function setCondition(status: CustomResourceDefinitionStatus, condition: Condition, now: string): void {
  const before = findCondition(status, condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  const { type, status: value, reason, message } = condition;
  const next = { type, status: value, lastTransitionTime: since ?? now, reason, message };
  const conditions = status.conditions ?? [];
  status.conditions =
    before === undefined ? [...conditions, next] : conditions.map((one) => (one === before ? next : one));
}

export function removeCondition(status: CustomResourceDefinitionStatus, type: string): void {
  const found = findCondition(status, type);
  if (found !== undefined) status.conditions = (status.conditions ?? []).filter((one) => one !== found);
}
