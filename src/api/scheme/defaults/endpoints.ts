import type { JsonObject } from "../../json.ts";

export function defaultEndpointPort(port: JsonObject): void {
  port["protocol"] ||= "TCP";
}
