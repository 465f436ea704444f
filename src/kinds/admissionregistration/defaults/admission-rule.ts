import type { JsonObject } from "../../../api/json.ts";

/** Rules of webhooks and policies look at objects of namespaces and of the cluster alike. */
export function defaultAdmissionRule(rule: JsonObject): void {
  rule["scope"] ??= "*";
}
