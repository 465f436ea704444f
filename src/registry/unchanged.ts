import { equalJson, type JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";

/**
 * Reports whether the objects differ at most in the times of managedFields. Then nothing is written and no event is
 * sent.
 */
export function isUnchanged(object: KubeObject, old: KubeObject): boolean {
  return equalJson(withoutManagerTimes(object), withoutManagerTimes(old));
}

function withoutManagerTimes(object: KubeObject): JsonObject {
  const { managedFields, resourceVersion: _resourceVersion, ...metadata } = object.metadata;
  const entries = (managedFields ?? []).map(({ time: _time, ...entry }) => entry);
  return { ...object, metadata: { ...metadata, managedFields: entries } } as unknown as JsonObject;
}
