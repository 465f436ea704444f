import type { JsonObject } from "../../json.ts";

export function defaultIngressClassParameters(parameters: JsonObject): void {
  parameters["scope"] ??= "Cluster";
}
