import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { structOf } from "../api/scheme/object-form.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { applyStrategicMergePatch } from "../apply/patch/strategic-merge-patch.ts";

/** Returns an object as the API server stores it after a strategic merge patch: in the form of its type, without nulls. */
export function patchedObject<T extends KubeObject>(object: T, patch: JsonObject, { form, kind }: ResourceInfo): T {
  const merged = applyStrategicMergePatch(object as unknown as JsonObject, patch, structOf({ form }));
  return form.decode(merged, { kind }).object as unknown as T;
}
