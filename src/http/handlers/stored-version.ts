import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { inStoredVersion } from "../../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { Eventual } from "../../process/eventual.ts";

/**
 * Converts an object from the request's version to the stored one, after applying the defaults of the request's version.
 */
export function toStoredVersion(object: KubeObject, info: ResourceInfo): Eventual<KubeObject> {
  if (info.storedAs === undefined) return object;
  info.form.applyDefaults(object as unknown as JsonObject);
  return inStoredVersion(object, info);
}
