import type { JsonObject } from "../../api/json.ts";
import { objectsOf } from "../../api/json-reading.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export function findCondition(status: JsonObject, type: string): JsonObject | undefined {
  return objectsOf(status["conditions"]).find((one) => one["type"] === type);
}

/** Enters a condition in place; a new one stands last. Its time changes with its status only. */
export function setCondition(status: JsonObject, condition: Condition, now: string): void {
  const conditions = objectsOf(status["conditions"]);
  const before = findCondition(status, condition.type);
  const since = before?.["status"] === condition.status ? before["lastTransitionTime"] : undefined;
  const { type, status: value, reason, message } = condition;
  const next: JsonObject = { type, status: value, lastTransitionTime: since ?? now, reason, message };
  status["conditions"] =
    before === undefined ? [...conditions, next] : conditions.map((one) => (one === before ? next : one));
}

export function removeCondition(status: JsonObject, type: string): void {
  const found = findCondition(status, type);
  if (found !== undefined) status["conditions"] = objectsOf(status["conditions"]).filter((one) => one !== found);
}
