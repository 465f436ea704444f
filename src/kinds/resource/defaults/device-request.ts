import type { JsonObject } from "../../../api/json.ts";

/** A request and each of its alternatives asks for one device, unless it asks for all of them. */
export function defaultDeviceRequest(request: JsonObject): void {
  request["allocationMode"] ||= "ExactCount";
  if (request["allocationMode"] === "ExactCount") request["count"] ||= 1;
}
