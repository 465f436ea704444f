import { equalJson, type JsonObject } from "../api/json.ts";
import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";

/**
 * Reports whether the objects differ at most in the times of managedFields. Then nothing is written and no event is
 * sent. Compares the content first, because most writes change it, and managedFields are often the larger part.
 */
export function isUnchanged(object: KubeObject, old: KubeObject): boolean {
  const { metadata, ...content } = object;
  const { metadata: oldMetadata, ...oldContent } = old;
  return (
    equalJson(content as unknown as JsonObject, oldContent as unknown as JsonObject) &&
    equalJson(withoutManagerTimes(metadata), withoutManagerTimes(oldMetadata))
  );
}

function withoutManagerTimes(metadata: ObjectMeta): JsonObject {
  const { managedFields, resourceVersion: _resourceVersion, ...rest } = metadata;
  const entries = (managedFields ?? []).map(({ time: _time, ...entry }) => entry);
  return { ...rest, managedFields: entries } as unknown as JsonObject;
}
