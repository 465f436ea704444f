import type { JsonObject } from "../../../api/json.ts";

export function defaultEndpointPort(port: JsonObject): void {
  port["protocol"] ||= "TCP";
}
