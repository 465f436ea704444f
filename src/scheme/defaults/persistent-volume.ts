import { cloneJson, emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
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
  mirrorDataSource(spec);
}

function defaultPhase(object: JsonObject): void {
  const status = isJsonObject(object["status"]) ? object["status"] : emptyJsonObject();
  status["phase"] ||= "Pending";
  object["status"] = status;
}

/** The field and its successor show the same; one that names a namespace has no older form. */
function mirrorDataSource(spec: JsonObject): void {
  const { dataSource: older, dataSourceRef: newer } = spec;
  if (isJsonObject(older) && !isSet(newer)) spec["dataSourceRef"] = cloneJson(older);
  if (isJsonObject(newer) && !isSet(older) && (newer["namespace"] ?? "") === "") {
    const { namespace: _namespace, ...reference } = newer;
    spec["dataSource"] = cloneJson(reference as JsonObject);
  }
}

function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}
