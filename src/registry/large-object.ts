import type { JsonObject } from "../api/json.ts";
import { countObjectValues, objectValuesMax, ordinaryValuesMax } from "../api/object-extent.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { status } from "../api/status.ts";

/**
 * Reports whether a write of this object takes long enough to yield to others between its steps. The object has its
 * defaults, because a short body can request many of them.
 * @throws StatusError 413 when it has more values than an object may have
 */
export function isLargeObject(object: KubeObject): boolean {
  const values = countObjectValues(object as unknown as JsonObject, objectValuesMax);
  if (values > objectValuesMax) throw status.tooManyValues(objectValuesMax);
  return values > ordinaryValuesMax;
}
