import type { JsonObject } from "../../../api/json.ts";

export function defaultIngressClassParameters(parameters: JsonObject): void {
  parameters["scope"] ??= "Cluster";
}
