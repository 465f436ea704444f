import { equalJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { Pod, PodCondition, PodStatus } from "../../api/types/core-v1.ts";
import { ownConditionTypes } from "./pod-conditions.ts";

/** Fields of a status that other components write. */
const othersFields: ReadonlySet<string> = new Set([
  "resourceClaimStatuses",
  "extendedResourceClaimStatus",
  "nodeAllocatableResourceClaimStatuses",
  "nominatedNodeName",
  "resize",
]);

/**
 * Returns the strategic merge patch that turns the stored status of a pod into the wanted one, or undefined if there is
 * nothing to change. It names the pod's uid, so that it never changes another pod of the same name.
 */
export function statusPatch(pod: Pod, wanted: PodStatus): JsonObject | undefined {
  const stored = (pod.status ?? {}) as Record<string, JsonValue>;
  const next = wanted as Record<string, JsonValue>;
  const status: JsonObject = {};
  for (const field of new Set([...Object.keys(stored), ...Object.keys(next)])) {
    if (othersFields.has(field) || field === "conditions" || equalJson(stored[field], next[field])) continue;
    status[field] = replacement(field, stored[field], next[field]);
  }
  Object.assign(status, conditionsPatch(pod.status?.conditions ?? [], wanted.conditions ?? []));
  if (Object.keys(status).length === 0) return undefined;
  return { metadata: { uid: pod.metadata.uid ?? "" }, status };
}

function replacement(field: string, old: JsonValue | undefined, value: JsonValue | undefined): JsonValue {
  if (value === undefined) return null;
  if (old === undefined) return value;
  // These lists would be merged by address, and these objects by field.
  if ((field === "podIPs" || field === "hostIPs") && Array.isArray(value)) return [{ $patch: "replace" }, ...value];
  if (field === "resources" || field === "allocatedResources") return { ...(value as JsonObject), $patch: "replace" };
  return value;
}

/** Conditions that the agent does not mention stay as they are. */
function conditionsPatch(stored: readonly PodCondition[], wanted: readonly PodCondition[]): JsonObject {
  const changed = wanted.filter((one) => {
    const old = stored.find(({ type }) => type === one.type);
    return old === undefined || !equalJson(comparable(old), comparable(one));
  });
  const removed = stored.filter(({ type }) => ownConditionTypes.has(type) && !wanted.some((one) => one.type === type));
  if (changed.length === 0 && removed.length === 0) return {};
  const conditions = [
    ...changed.map((one) => ({ reason: null, message: null, ...one })),
    ...removed.map(({ type }) => ({ $patch: "delete", type })),
  ];
  return {
    "$setElementOrder/conditions": wanted.map(({ type }) => ({ type })),
    conditions: conditions as unknown as JsonValue,
  };
}

/** Returns a condition as it is compared: the type of a number and the time of a probe make no difference. */
function comparable(condition: PodCondition): JsonObject {
  const { type, status, reason = "", message = "", lastTransitionTime = "", observedGeneration = 0 } = condition;
  return { type, status, reason, message, lastTransitionTime, observedGeneration: Number(observedGeneration) };
}
