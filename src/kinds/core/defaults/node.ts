import { cloneJson, isJsonObject, type JsonObject } from "../../../api/json.ts";
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

/** `podCIDR` is the first of `podCIDRs`, for clients that know of one only; where both are given, it wins. */
export function alignPodCidrs(spec: JsonObject): void {
  const [first] = Array.isArray(spec["podCIDRs"]) ? spec["podCIDRs"] : [];
  const { podCIDR } = spec;
  if (podCIDR === undefined || podCIDR === "") {
    if (first !== undefined) spec["podCIDR"] = first;
  } else if (podCIDR !== first) spec["podCIDRs"] = [podCIDR];
}
