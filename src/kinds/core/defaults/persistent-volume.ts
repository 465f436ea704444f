import { emptyJsonObject, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { roundResourceList } from "./resource-list.ts";

export function defaultPersistentVolume(volume: JsonObject): void {
  defaultPhase(volume);
  const spec = volume["spec"];
  if (!isJsonObject(spec)) return;
  spec["persistentVolumeReclaimPolicy"] ||= "Retain";
  spec["volumeMode"] ??= "Filesystem";
  roundResourceList(spec["capacity"]);
}

export function defaultClaim(claim: JsonObject): void {
  defaultPhase(claim);
  const spec = claim["spec"];
  if (!isJsonObject(spec)) return;
  spec["volumeMode"] ??= "Filesystem";
}

function defaultPhase(object: JsonObject): void {
  const status = isJsonObject(object["status"]) ? object["status"] : emptyJsonObject();
  status["phase"] ||= "Pending";
  object["status"] = status;
}
