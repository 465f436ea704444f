import { cloneJson, isJsonObject, type JsonObject } from "../../api/json.ts";
import { roundResourceList } from "./resource-list.ts";

/** All of a node can be given to pods until it says otherwise. */
export function defaultNode(node: JsonObject): void {
  const status = node["status"];
  if (!isJsonObject(status) || status["capacity"] === undefined) return;
  status["allocatable"] ??= cloneJson(status["capacity"]);
}

export function roundNodeStatus(status: JsonObject): void {
  roundResourceList(status["capacity"]);
  roundResourceList(status["allocatable"]);
}
