import type { JsonObject } from "../../../api/json.ts";

/** Of requests and their alternatives: one device, unless all of them are asked for. */
export function defaultDeviceRequest(request: JsonObject): void {
  request["allocationMode"] ||= "ExactCount";
  if (request["allocationMode"] === "ExactCount") request["count"] ||= 1;
}
