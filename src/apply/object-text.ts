import { parseApiVersion } from "../api/gvk.ts";
import { isJsonObject, type JsonObject } from "../api/json.ts";
import { textOf } from "../api/json-reading.ts";

/** An object as upstream's messages name it: `default/web; apps/v1, Kind=Deployment`. */
export function objectText(object: JsonObject): string {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  return `${textOf(metadata["namespace"])}/${textOf(metadata["name"])}; ${kindText(object)}`;
}

/** A kind as upstream's messages name it: `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` in the core group. */
export function kindText(object: JsonObject): string {
  const { group, version } = parseApiVersion(textOf(object["apiVersion"])) ?? { group: "", version: "" };
  return `${group}/${version}, Kind=${textOf(object["kind"])}`;
}
