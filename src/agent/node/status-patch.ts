import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { NodeCondition, NodeStatus } from "../../api/types/core-v1.ts";

/**
 * Returns the strategic merge patch from one status to another; undefined if only heartbeat times differ and
 * `isReportDue` is false. Conditions are merged by type, and addresses are replaced as a whole.
 */
export function statusPatch(old: NodeStatus, next: NodeStatus, isReportDue: boolean): JsonObject | undefined {
  const fields: JsonObject = {};
  for (const name of new Set([...Object.keys(old), ...Object.keys(next)]) as Set<keyof NodeStatus>) {
    if (name === "conditions") continue;
    const [before, after] = [old[name], next[name]] as (JsonValue | undefined)[];
    if (!equalJson(before, after)) fields[name] = fieldPatch(name, before, after);
  }
  const changed = (next.conditions ?? []).filter((condition) => !hasSame(old.conditions, condition));
  if (Object.keys(fields).length === 0 && changed.length === 0 && !isReportDue) return undefined;
  // A report carries the heartbeats of all conditions.
  const beaten = (next.conditions ?? []).filter(
    (condition) => !(old.conditions ?? []).some((before) => equalJson(asJson(before), asJson(condition))),
  );
  if (beaten.length > 0) fields["conditions"] = beaten.map(asJson);
  return { status: fields };
}

function hasSame(old: readonly NodeCondition[] = [], condition: NodeCondition): boolean {
  const before = old.find(({ type }) => type === condition.type);
  if (before === undefined) return false;
  return equalJson(asJson({ ...before, lastHeartbeatTime: null }), asJson({ ...condition, lastHeartbeatTime: null }));
}

function asJson(condition: NodeCondition): JsonObject {
  return condition as unknown as JsonObject;
}

function fieldPatch(name: string, before: JsonValue | undefined, after: JsonValue | undefined): JsonValue {
  if (after === undefined) return null;
  if (name === "addresses" && Array.isArray(after)) return [...after, { $patch: "replace" }];
  if (!isJsonObject(after) || !isJsonObject(before as JsonValue)) return after;
  const old = before as JsonObject;
  const changes = Object.entries(after).filter(([key, value]) => !equalJson(old[key], value));
  const removed = Object.keys(old).filter((key) => after[key] === undefined);
  return Object.fromEntries([...changes, ...removed.map((key) => [key, null] as const)]);
}
