import { emptyJsonObject, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { pullPolicyOf } from "./container.ts";

/** A volume without a source is an empty directory. */
export function defaultVolume(volume: JsonObject): void {
  const hasSource = Object.keys(volume).some((name) => name !== "name" && volume[name] !== null);
  if (!hasSource) volume["emptyDir"] = emptyJsonObject();
  const image = volume["image"];
  if (isJsonObject(image)) image["pullPolicy"] ??= pullPolicyOf(image["reference"]);
}

export function defaultClaimTemplate(template: JsonObject): void {
  const spec = template["spec"];
  if (isJsonObject(spec)) spec["volumeMode"] ??= "Filesystem";
}
